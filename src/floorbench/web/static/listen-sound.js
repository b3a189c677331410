// Playing and recording on one clock: the frames of one AudioContext.

const STUCK = 4; // seconds that the clock, or the microphone, may fall behind before it is given up
const HOLE = 0.3; // seconds that the clock may fall behind in one turn: more is a hole in what was heard
const BLOCK = 500_000; // frames that are sent at once
const PATIENCE = 20; // seconds to wait for the browser's own promises

/** A promise of the browser that some devices leave open for ever. */
function within(promise, what) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${what} does not start.`)), PATIENCE * 1000);
    promise.then(resolve, reject);
  });
}

/** Everything that sounds or is heard. */
export class Sound {
  constructor() {
    // Steady rather than quick: the latency is measured, a lost block would shift all that follows.
    this.context = new AudioContext({ latencyHint: "playback" });
    this.captures = new Set();
    this.level = 0;
    this.microphone = null;
    this.lost = null;
  }

  get rate() { return this.context.sampleRate; }

  get now() { return this.context.currentTime; }

  async start({ microphone }) {
    await within(this.context.resume(), "The sound");
    this.watch();
    if (!microphone || this.microphone) return;
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1, latency: { ideal: 0.1 } },
    });
    await within(this.context.audioWorklet.addModule("/static/listen-worklet.js"), "The recording");
    const source = this.context.createMediaStreamSource(stream);
    const tap = new AudioWorkletNode(this.context, "floorbench-tap", {
      numberOfInputs: 1, numberOfOutputs: 1, channelCount: 1, channelCountMode: "explicit",
    });
    const silent = this.context.createGain();
    silent.gain.value = 0;
    source.connect(tap).connect(silent).connect(this.context.destination);
    tap.port.onmessage = ({ data }) => this.take(data);
    tap.onprocessorerror = () => this.lose("The recording stopped.");
    this.nodes = [source, tap, silent]; // held, so that nothing is collected while it records
    this.recorded = this.now;
    stream.getAudioTracks()[0].addEventListener("ended", () => this.lose("The microphone was lost."));
    this.microphone = stream;
  }

  /** How far the sound clock is behind the page's, in seconds; only a change means something. */
  get behind() { return performance.now() / 1000 - this.now; }

  /** Begin something that must be heard without a hole; what is returned tells whether it was. */
  span() {
    const before = this.behind;
    this.base = before;
    return () => this.behind - before <= HOLE;
  }

  /**
   * Notice when the clock stands still or crawls (the device is gone, the browser gave up on it, the
   * machine is too busy), and when blocks of the microphone stop coming.
   */
  watch() {
    this.base = this.behind;
    let late = 0;
    clearInterval(this.watching);
    this.watching = setInterval(() => {
      if (this.behind - this.base >= STUCK) this.lose("The sound stopped.");
      late = this.captures.size && this.now - this.recorded >= STUCK ? late + 1 : 0;
      if (late >= 2) this.lose("The microphone stopped."); // twice: blocks may be waiting to be taken
    }, 1000);
  }

  /** Give up: nothing recorded from now on could be placed. */
  lose(why) {
    this.lost ??= why instanceof Error ? why : new Error(why);
    clearInterval(this.watching);
    for (const capture of this.captures) capture.reject(this.lost);
    this.captures.clear();
  }

  /** Facts about the sound settings; labels and ids of devices stay out, they can name people. */
  facts() {
    const track = this.microphone?.getAudioTracks()[0]?.getSettings() ?? {};
    const keep = ["sampleRate", "channelCount", "latency", "echoCancellation", "noiseSuppression", "autoGainControl"];
    return {
      agent: navigator.userAgent,
      rate: this.rate,
      baseLatency: this.context.baseLatency ?? null,
      outputLatency: this.context.outputLatency ?? null,
      microphone: this.microphone ? Object.fromEntries(keep.filter((k) => k in track).map((k) => [k, track[k]])) : null,
    };
  }

  take({ first, samples }) {
    this.recorded = (first + samples.length) / this.rate;
    let peak = 0;
    for (const s of samples) peak = Math.max(peak, Math.abs(s));
    this.level = Math.max(peak, this.level * 0.8);
    for (const capture of this.captures) capture.take(first, samples);
  }

  /** Play a buffer at an exact time of the clock. */
  play(buffer, at) {
    const node = this.context.createBufferSource();
    node.buffer = buffer;
    node.connect(this.context.destination);
    node.start(at);
    return node;
  }

  /** The next time from now on that is a whole frame. */
  frameTime(seconds) { return Math.ceil(seconds * this.rate) / this.rate; }

  /** What the listener hears at a time of the page's own clock (of an event, in milliseconds). */
  heardAt(stamp) {
    const { contextTime, performanceTime } = this.context.getOutputTimestamp?.() ?? {};
    if (performanceTime > 0) return contextTime + (stamp - performanceTime) / 1000;
    return this.now - (this.context.outputLatency || 0) + (stamp - performance.now()) / 1000;
  }

  /** Sound clock against the page's clock, in seconds; a change means that blocks were lost. */
  get clock() {
    const { contextTime, performanceTime } = this.context.getOutputTimestamp?.() ?? {};
    return performanceTime > 0 ? contextTime - performanceTime / 1000 : null;
  }

  async decode(bytes) { return this.context.decodeAudioData(bytes); }

  /** A short click. */
  click() {
    const buffer = this.context.createBuffer(1, Math.round(0.03 * this.rate), this.rate);
    const data = buffer.getChannelData(0);
    for (let i = 0; i < data.length; i += 1) {
      data[i] = 0.5 * Math.exp(-i / (0.006 * this.rate)) * Math.sin((2 * Math.PI * 1200 * i) / this.rate);
    }
    return buffer;
  }

  async close() {
    clearInterval(this.watching);
    this.microphone?.getTracks().forEach((t) => t.stop());
    if (this.context.state !== "closed") await within(this.context.close(), "The sound");
  }
}

/** Frames [first, last) of the microphone, sent about every second while they come in. */
export class Capture {
  constructor(sound, { first, last, send }) {
    Object.assign(this, { sound, first, last, send, waiting: [], held: 0, sent: 0, reached: first });
    this.queue = Promise.resolve();
    this.finished = new Promise((resolve, reject) => { this.resolve = resolve; this.reject = reject; });
    sound.captures.add(this);
  }

  take(from, samples) {
    const begin = Math.max(this.first, from);
    const end = Math.min(this.last, from + samples.length);
    if (end > begin) {
      if (begin > this.reached) this.hold(new Float32Array(begin - this.reached)); // the clock went on without sound
      this.hold(samples.slice(begin - from, end - from));
      this.reached = end;
    }
    if (this.held >= this.sound.rate || this.reached >= this.last) this.flush();
    if (this.reached >= this.last) {
      this.sound.captures.delete(this);
      this.queue.then(this.resolve, this.reject);
    }
  }

  hold(samples) {
    this.waiting.push(samples);
    this.held += samples.length;
  }

  flush() {
    const pcm = new Int16Array(this.held);
    let at = 0;
    for (const part of this.waiting) for (const s of part) pcm[at++] = Math.max(-32768, Math.min(32767, Math.round(s * 32768)));
    this.waiting = [];
    this.held = 0;
    for (let i = 0; i < pcm.length; i += BLOCK) {
      const block = pcm.slice(i, i + BLOCK);
      const first = this.sent;
      this.sent += block.length;
      this.queue = this.queue.then(() => this.send(block, first));
    }
    this.queue.catch(this.reject); // what cannot be kept is told at once, not at the end of the turn
  }
}
