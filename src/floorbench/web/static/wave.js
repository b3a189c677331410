// Pictures of sound: a lane per channel on one clock.
import { ask, encoded, itemParameters } from "./kit.js";

/** Where the sound of a part comes from. */
export function soundAddress(group, key, part) {
  return `/audio?${encoded({ ...itemParameters(group, key), part })}`;
}

/** Fetch a waveform and unpack its lanes: role -> Int8Array of low, high, low, high ... */
export async function fetchWave(group, key, part, span = {}) {
  const found = await ask("/api/wave", { ...itemParameters(group, key), part, ...span });
  const lanes = Object.entries(found.channels).map(([role, packed]) => [
    role, Int8Array.from(atob(packed), (c) => (c.charCodeAt(0) << 24) >> 24)]);
  return { start: found.start, seconds: found.seconds, lanes };
}

/** Read the page's colours by name. */
export function colours(node) {
  const style = getComputedStyle(node);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

/** Fit a canvas to its size on the screen and clear it. */
export function fit(canvas) {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const paper = canvas.getContext("2d");
  paper.setTransform(scale, 0, 0, scale, 0, 0);
  paper.clearRect(0, 0, width, height);
  return { paper, width, height };
}

/** Draw a waveform that reaches from one pixel to another, as far as it lies between two edges. */
export function lane(paper, pairs, { from, to, left, right, top, height, colour }) {
  const middle = top + height / 2;
  const half = (height / 2) * 0.94;
  const count = pairs.length / 2;
  let loudest = 1;
  for (const v of pairs) loudest = Math.max(loudest, Math.abs(v));
  const gain = half / Math.max(loudest, 24);
  paper.fillStyle = colour;
  for (let x = Math.max(left, Math.floor(from)); x < Math.min(right, to); x += 1) {
    const first = Math.max(0, Math.floor(((x - from) * count) / (to - from)));
    const last = Math.max(first + 1, Math.floor(((x + 1 - from) * count) / (to - from)));
    let low = 127;
    let high = -127;
    for (let i = first; i < last && i < count; i += 1) {
      low = Math.min(low, pairs[2 * i]);
      high = Math.max(high, pairs[2 * i + 1]);
    }
    if (high < low) continue;
    paper.fillRect(x, middle - high * gain, 1, Math.max(1, (high - low) * gain));
  }
}

/** Draw a small waveform of one part, with how much of it has been heard. */
export function drawSmall(canvas, wave, share = 0) {
  const { paper, width, height } = fit(canvas);
  const colour = colours(canvas);
  const each = height / wave.lanes.length;
  wave.lanes.forEach(([role, pairs], i) => lane(paper, pairs, {
    from: 0, to: width, left: 0, right: width, top: i * each, height: each, colour: colour(role === "system" ? "system" : "user"),
  }));
  if (share > 0) {
    paper.fillStyle = colour("ink");
    paper.fillRect(Math.min(width - 2, share * width), 0, 2, height);
  }
}
