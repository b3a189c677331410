// Hands every block of the microphone to the page, with the frame number of the sound clock.
const SIZE = 2048;

class Tap extends AudioWorkletProcessor {
  constructor() {
    super();
    this.block = new Float32Array(SIZE);
    this.filled = 0;
    this.first = 0;
  }

  process(inputs) {
    const channel = inputs[0][0];
    const length = channel ? channel.length : 128;
    if (this.filled === 0) this.first = currentFrame;
    if (channel) this.block.set(channel, this.filled);
    else this.block.fill(0, this.filled, this.filled + length);
    this.filled += length;
    if (this.filled >= SIZE) {
      this.port.postMessage({ first: this.first, samples: this.block }, [this.block.buffer]);
      this.block = new Float32Array(SIZE);
      this.filled = 0;
    }
    return true;
  }
}

registerProcessor("floorbench-tap", Tap);
