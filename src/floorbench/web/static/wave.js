// Pictures of sound: a lane per channel on one clock, events above, a playhead.
import { ask, encoded, itemParameters } from "./kit.js";

/** Where the sound of a part comes from. */
export function soundAddress(group, key, part) {
  return `/audio?${encoded({ ...itemParameters(group, key), part })}`;
}

/** Fetch a waveform and unpack its lanes: role -> Int8Array of low, high, low, high ... */
export async function fetchWave(group, key, part) {
  const found = await ask("/api/wave", { ...itemParameters(group, key), part });
  const lanes = Object.entries(found.channels).map(([role, packed]) => [
    role, Int8Array.from(atob(packed), (c) => (c.charCodeAt(0) << 24) >> 24)]);
  return { seconds: found.seconds, lanes };
}

function colours(node) {
  const style = getComputedStyle(node);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

function fit(canvas) {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const paper = canvas.getContext("2d");
  paper.setTransform(scale, 0, 0, scale, 0, 0);
  paper.clearRect(0, 0, width, height);
  return { paper, width, height };
}

function lane(paper, pairs, { left, width, top, height, colour }) {
  const middle = top + height / 2;
  const half = (height / 2) * 0.94;
  const count = pairs.length / 2;
  let loudest = 1;
  for (const v of pairs) loudest = Math.max(loudest, Math.abs(v));
  const gain = half / Math.max(loudest, 24);
  paper.fillStyle = colour;
  for (let x = 0; x < width; x += 1) {
    const from = Math.floor((x * count) / width);
    const to = Math.max(from + 1, Math.floor(((x + 1) * count) / width));
    let low = 127;
    let high = -127;
    for (let i = from; i < to && i < count; i += 1) {
      low = Math.min(low, pairs[2 * i]);
      high = Math.max(high, pairs[2 * i + 1]);
    }
    if (high < low) continue;
    paper.fillRect(left + x, middle - high * gain, 1, Math.max(1, (high - low) * gain));
  }
}

/** Draw a small waveform of one part, with how much of it has been heard. */
export function drawSmall(canvas, wave, share = 0) {
  const { paper, width, height } = fit(canvas);
  const colour = colours(canvas);
  const each = height / wave.lanes.length;
  wave.lanes.forEach(([role, pairs], i) => lane(paper, pairs, {
    left: 0, width, top: i * each, height: each, colour: colour(role === "system" ? "system" : "user"),
  }));
  if (share > 0) {
    paper.fillStyle = colour("ink");
    paper.fillRect(Math.min(width - 2, share * width), 0, 2, height);
  }
}

const TOP = 36;
const LANE = 74;
const WORDS = 20;
export const GUTTER = 58;

/** Height that a time line needs. */
export function lineHeight(lanes, hasWords) {
  return TOP + lanes * LANE + (hasWords ? WORDS : 0) + 20;
}

/**
 * Draw the time line of an item.
 * marks: [{start, end, text, kind: "gold" | "predicted" | "commit" | "cutoff", run}]
 */
export function drawLine(canvas, { wave, seconds, words, marks, at }) {
  const { paper, width, height } = fit(canvas);
  const colour = colours(canvas);
  const span = width - GUTTER - 8;
  const x = (t) => GUTTER + (t / seconds) * span;
  const bottom = TOP + wave.lanes.length * LANE;
  paper.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  paper.textBaseline = "middle";
  wave.lanes.forEach(([role, pairs], i) => {
    const top = TOP + i * LANE;
    paper.fillStyle = colour("lane");
    paper.fillRect(GUTTER, top + 2, span, LANE - 4);
    lane(paper, pairs, {
      left: GUTTER, width: Math.max(1, Math.round((wave.seconds / seconds) * span)), top: top + 2, height: LANE - 4,
      colour: colour(role === "system" ? "system" : "user"),
    });
    paper.fillStyle = colour("ink");
    paper.fillText(role, 4, top + LANE / 2);
  });
  ruler(paper, { seconds, most: span / 58, x, y: height - 10, colour: colour("quiet"), from: bottom });
  if (words.length) {
    paper.fillStyle = colour("ink");
    let free = 0;
    for (const w of words) {
      if (w.start === null) continue;
      const left = Math.max(x(w.start), free);
      if (left > width - 20) break;
      paper.fillText(w.text, left, bottom + WORDS / 2);
      free = left + paper.measureText(w.text).width + 4;
    }
  }
  const taken = [];
  for (const m of marks) {
    const left = x(m.start);
    paper.strokeStyle = colour(m.kind === "gold" ? "gold" : m.kind === "cutoff" ? "quiet" : "accent");
    paper.fillStyle = paper.strokeStyle;
    paper.lineWidth = m.kind === "gold" ? 2 : 1.5;
    paper.setLineDash(m.kind === "gold" ? [] : m.kind === "cutoff" ? [2, 3] : [5, 3]);
    if (m.end !== null && m.end !== undefined) {
      paper.globalAlpha = 0.1;
      paper.fillRect(left, TOP, x(m.end) - left, bottom - TOP);
      paper.globalAlpha = 1;
      paper.fillRect(left, m.kind === "gold" ? 14 : TOP - 5, x(m.end) - left, 2);
    }
    paper.beginPath();
    paper.moveTo(left, m.kind === "gold" ? 4 : 18);
    paper.lineTo(left, bottom);
    paper.stroke();
    const wide = paper.measureText(m.text).width;
    let start = left + wide + 6 > width ? left - wide - 4 : left + 4;
    start = Math.max(2, start);
    const row = m.kind === "gold" ? 9 : 23;
    if (!taken.some(([y, a, b]) => y === row && start < b && start + wide > a)) {
      paper.fillText(m.text, start, row);
      taken.push([row, start, start + wide + 4]);
    }
  }
  paper.setLineDash([]);
  if (at !== null) {
    paper.fillStyle = colour("play");
    paper.fillRect(x(at) - 1, TOP - 4, 2, bottom - TOP + 8);
  }
}

function ruler(paper, { seconds, most, x, y, colour, from }) {
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600].find((s) => seconds / s <= most) ?? 1800;
  paper.fillStyle = colour;
  for (let t = 0; t <= seconds + 1e-9; t += step) {
    paper.fillRect(x(t), from, 1, 5);
    const text = `${Number(t.toFixed(1))} s`;
    if (x(t) + paper.measureText(text).width < x(seconds) + 8) paper.fillText(text, x(t) + 3, y);
  }
}
