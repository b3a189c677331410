// One sound at a time: parts are played alone or one after the other.
import { soundAddress } from "./wave.js";

export class Player {
  constructor(onchange, onproblem) {
    this.sound = new Audio();
    this.sound.preload = "auto";
    this.onchange = onchange;
    this.onproblem = onproblem;
    this.queue = [];
    this.now = null;
    this.wanted = null;
    for (const name of ["play", "pause", "seeked", "loadedmetadata", "timeupdate"]) {
      this.sound.addEventListener(name, () => this.tick());
    }
    this.sound.addEventListener("ended", () => { this.next(); this.tick(); });
    this.sound.addEventListener("error", () => {
      if (this.now) this.onproblem(`This sound cannot be played (${this.sound.error?.message || "unreadable"}).`);
    });
  }

  /** Load a part without playing it. */
  load(entry) {
    if (this.now && this.now.address === entry.address) { this.now = entry; return; }
    this.now = entry;
    this.sound.src = entry.address;
  }

  /** Play parts one after the other, from a time in the first. */
  play(entries, from = 0) {
    const [first, ...rest] = entries;
    this.queue = rest;
    this.load(first);
    this.sound.currentTime = from;
    this.sound.play().catch((error) => {
      if (error.name !== "AbortError") this.onproblem(`This sound cannot be played: ${error.message}`);
    });
    this.tick();
  }

  next() {
    if (this.queue.length) this.play(this.queue);
  }

  toggle(entry) {
    if (this.isPlaying(entry)) { this.queue = []; this.sound.pause(); return; }
    const here = this.now?.address === entry.address;
    const over = here && this.sound.ended;
    this.play([entry], here && !over ? this.sound.currentTime : 0);
  }

  isPlaying(entry) {
    return !this.sound.paused && !this.sound.ended && this.now?.address === entry.address;
  }

  /** Where in a part we are, or null when another part is loaded. */
  time(entry) {
    return this.now?.address === entry.address ? this.sound.currentTime : null;
  }

  seek(entry, seconds) {
    this.load(entry);
    this.sound.currentTime = Math.max(0, Math.min(entry.seconds, seconds));
    this.tick();
  }

  tick() {
    this.onchange();
    cancelAnimationFrame(this.wanted);
    if (!this.sound.paused && !this.sound.ended) this.wanted = requestAnimationFrame(() => this.tick());
  }

  stop() {
    this.queue = [];
    this.now = null;
    cancelAnimationFrame(this.wanted);
    this.sound.pause();
    this.sound.removeAttribute("src");
    this.sound.load();
  }
}

/** A part of an item as something to play. */
export function entryOf(group, key, sound) {
  return { part: sound.part, seconds: sound.seconds, address: soundAddress(group, key, sound.part) };
}
