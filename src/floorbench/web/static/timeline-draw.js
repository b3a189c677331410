// How a time line looks: a block of lanes per channel, curves of scores below, a ruler, a map.
import { colours, fit, lane } from "./wave.js";

const GUTTER = 64;
const RIGHT = 8;
const WAVE = 62;
const SPEECH = 9;
const WORD = 15;
const EVENT = 17;
const ANSWER = 16;
const CURVE = 54;
const FREE = 36;
const RULER = 22;
const GAP = 6;
const DASH = { gold: [], predicted: [5, 3], commit: [5, 3], cutoff: [2, 3] };

/** Where everything lies from top to bottom, and how high it is together. */
export function layout({ roles, waves, speech, words, events, runs, signals, free }) {
  let y = 0;
  const take = (height) => { const at = y; y += height; return { top: at, height }; };
  const out = { free: free ? take(FREE) : null, roles: {}, curves: {} };
  for (const role of roles) {
    const block = {};
    if (waves.includes(role)) block.wave = take(WAVE);
    if (speech.includes(role)) block.speech = take(waves.includes(role) ? SPEECH : SPEECH + 9);
    if (words) block.words = take(2 * WORD);
    if (events) {
      block.events = take(EVENT);
      block.answers = runs.map(() => take(ANSWER));
    }
    out.roles[role] = block;
    y += GAP;
  }
  out.bottom = y;
  for (const signal of signals) { out.curves[signal] = take(CURVE); y += GAP; }
  out.ruler = take(RULER);
  out.height = y;
  return out;
}

/** Time to pixel and back for a canvas that shows [start, end]. */
export function scale(width, start, end) {
  const span = Math.max(1, width - GUTTER - RIGHT);
  return { x: (t) => GUTTER + ((t - start) / (end - start)) * span, t: (x) => start + ((x - GUTTER) / span) * (end - start), span };
}

const roleColour = (role) => (role === "system" ? "system" : "user");

export function drawLines(canvas, plan, { start, end, data, wave, marks, at, selected, runs }) {
  const { paper, width, height } = fit(canvas);
  const colour = colours(canvas);
  const { x, span } = scale(width, start, end);
  const family = getComputedStyle(canvas).fontFamily;
  const face = (size, bold) => { paper.font = `${bold ? "600 " : ""}${size}px ${family}`; };
  paper.textBaseline = "middle";
  const side = (text, box, name = "ink", size = 11) => {
    face(size);
    paper.fillStyle = colour(name);
    paper.fillText(text, 2, box.top + box.height / 2, GUTTER - 6);
  };
  for (const block of Object.entries(plan.roles)) drawRole(block);
  for (const [signal, box] of Object.entries(plan.curves)) drawCurves(signal, box);
  paper.save();
  paper.beginPath();
  paper.rect(GUTTER, 0, span + RIGHT, height);
  paper.clip();
  drawFree();
  if (selected) {
    paper.fillStyle = colour("gold");
    paper.fillRect(x(selected.time) - 0.75, 0, 1.5, plan.ruler.top);
  }
  paper.restore();
  ruler(paper, { start, end, most: span / 62, x, box: plan.ruler, colour, face });
  if (at !== null && at >= start && at <= end) {
    paper.fillStyle = colour("play");
    paper.fillRect(x(at) - 1, 0, 2, plan.ruler.top + 4);
  }

  function drawRole([role, block]) {
    let named = null;
    const mine = (list) => list.filter((e) => e.role === role);
    if (block.wave) {
      paper.fillStyle = colour("lane");
      paper.fillRect(GUTTER, block.wave.top + 1, span, block.wave.height - 2);
      side(role, block.wave);
      const pairs = wave?.lanes.find(([name]) => name === role)?.[1];
      if (pairs) {
        lane(paper, pairs, {
          from: x(wave.start), to: x(wave.start + wave.seconds), left: GUTTER, right: GUTTER + span,
          top: block.wave.top + 1, height: block.wave.height - 2, colour: colour(roleColour(role)),
        });
      }
    }
    if (block.speech) {
      if (!block.wave) side(role, block.speech);
      paper.fillStyle = colour("lane");
      paper.fillRect(GUTTER, block.speech.top, span, block.speech.height);
      paper.fillStyle = colour(roleColour(role));
      for (const [from, to] of data.activity[role] ?? []) {
        const left = Math.max(GUTTER, x(from));
        const right = Math.min(GUTTER + span, x(to));
        if (right > left) paper.fillRect(left, block.speech.top + 1, Math.max(1, right - left), block.speech.height - 2);
      }
    }
    paper.save();
    paper.beginPath();
    paper.rect(GUTTER, 0, span + RIGHT, height);
    paper.clip();
    if (block.words && !block.wave && !block.speech) named = block.words;
    if (block.words) drawWords(data.words.filter((w) => w.role === role), block.words);
    if (block.events) {
      const drawn = mine(data.events);
      for (const e of drawn) {
        if (e.end === null || e.end === undefined) continue;
        paper.fillStyle = colour("gold");
        paper.globalAlpha = 0.16;
        paper.fillRect(x(e.time), block.events.top, Math.max(1, x(e.end) - x(e.time)), block.events.height);
        paper.globalAlpha = 1;
      }
      labels(drawn.map((e) => [x(e.time), e.label]), block.events, () => "gold", true);
      block.answers.forEach((box, i) => {
        const said = drawn.map((e) => [e, e.answers.find((a) => a.run === runs[i].run)]).filter(([, a]) => a);
        labels(said.map(([e, a]) => [x(e.time), `${a.verdict === "right" ? "✓" : "✗"} ${a.label ?? "–"}`, a.verdict]), box,
          (verdict) => (verdict === "right" ? "good" : "bad"), false);
      });
    }
    paper.restore();
    if (named) side(role, named);
    if (block.events) {
      side("gold", block.events, "gold");
      block.answers.forEach((box, i) => side(`run ${runs[i].run + 1}`, box, "quiet"));
    }
  }

  /** Short texts at their moments; where the next one is near, its sign or its tick alone. */
  function labels(found, box, name, bold) {
    face(11, bold);
    found.forEach(([left, text, what], i) => {
      paper.fillStyle = colour(name(what));
      paper.fillRect(left - 0.75, box.top + 1, 1.5, box.height - 2);
      const room = (found[i + 1]?.[0] ?? Infinity) - left - 5;
      const fits = [text, text.slice(0, 1)].find((t) => (t === text || what) && paper.measureText(t).width <= room);
      if (fits) paper.fillText(fits, left + 3, box.top + box.height / 2 + 0.5);
    });
  }

  function drawWords(words, box) {
    face(11);
    const free = [-Infinity, -Infinity];
    for (const w of words) {
      paper.fillStyle = colour(w.speech ? "ink" : "quiet");
      const left = x(w.start);
      const wide = paper.measureText(w.text).width;
      const row = free[0] <= left ? 0 : free[1] <= left ? 1 : -1;
      if (row < 0) { paper.fillRect(left, box.top + 1, 1, 3); continue; }
      paper.fillText(w.text, left, box.top + WORD * row + WORD / 2 + 1);
      free[row] = left + wide + 4;
    }
    if (data.words_left) {
      paper.fillStyle = colour("quiet");
      paper.fillText("zoom in to read the words", GUTTER + 4, box.top + WORD);
    }
  }

  /** Events that belong to no channel, decisions and the cutoff: lines over all lanes. */
  function drawFree() {
    if (!plan.free) return;
    const taken = [];
    for (const m of marks) {
      const left = x(m.start);
      const name = m.kind === "gold" ? "gold" : m.kind === "cutoff" ? "quiet" : "accent";
      paper.strokeStyle = colour(name);
      paper.fillStyle = colour(name);
      paper.lineWidth = m.kind === "gold" ? 2 : 1.5;
      paper.setLineDash(DASH[m.kind] ?? []);
      if (m.end !== null && m.end !== undefined) {
        const wide = Math.max(1, x(m.end) - left);
        paper.globalAlpha = 0.1;
        paper.fillRect(left, FREE, wide, plan.bottom - FREE);
        paper.globalAlpha = 1;
        paper.fillRect(left, m.kind === "gold" ? 14 : FREE - 5, wide, 2);
      }
      paper.beginPath();
      paper.moveTo(left, m.kind === "gold" ? 4 : 18);
      paper.lineTo(left, plan.bottom);
      paper.stroke();
      face(11, m.kind === "gold");
      const wide = paper.measureText(m.text).width;
      const begin = Math.max(GUTTER + 2, left + wide + 6 > width ? left - wide - 4 : left + 4);
      const row = m.kind === "gold" ? 9 : 24;
      if (!taken.some(([y, a, b]) => y === row && begin < b && begin + wide > a)) {
        paper.fillText(m.text, begin, row);
        taken.push([row, begin, begin + wide + 4]);
      }
    }
    paper.setLineDash([]);
  }

  function drawCurves(signal, box) {
    const curves = data.traces.filter((c) => c.signal === signal);
    const least = Math.min(0, ...curves.map((c) => c.least));
    const most = Math.max(...curves.map((c) => c.most), least + 1e-6);
    const top = most <= 1 && least >= 0 ? 1 : most;
    const y = (v) => box.top + 3 + (1 - (v - least) / (top - least)) * (box.height - 6);
    paper.fillStyle = colour("lane");
    paper.fillRect(GUTTER, box.top, span, box.height);
    side(signal, { top: box.top, height: box.height }, "ink");
    face(9);
    paper.fillStyle = colour("quiet");
    paper.textAlign = "right";
    paper.fillText(short(top), GUTTER - 4, box.top + 6);
    paper.fillText(short(least), GUTTER - 4, box.top + box.height - 5);
    paper.textAlign = "left";
    paper.save();
    paper.beginPath();
    paper.rect(GUTTER, box.top, span, box.height);
    paper.clip();
    for (const curve of curves) {
      paper.strokeStyle = colour(roleColour(curve.role));
      paper.setLineDash(curve.role === "system" ? [5, 2] : []);
      paper.lineWidth = 1.6;
      paper.beginPath();
      curve.high.forEach((value, i) => {
        const left = x(curve.first + i * curve.step);
        const right = x(curve.first + (i + 1) * curve.step);
        if (i === 0) paper.moveTo(left, y(value));
        paper.lineTo(left, y(value));
        if (curve.low && curve.low[i] !== value) { paper.lineTo(left, y(curve.low[i])); paper.lineTo(left, y(value)); }
        paper.lineTo(right, y(value));
      });
      paper.stroke();
    }
    paper.setLineDash([]);
    paper.restore();
  }
}

function short(value) {
  return String(Number(value.toPrecision(2)));
}

function ruler(paper, { start, end, most, x, box, colour, face }) {
  const span = end - start;
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1800].find((s) => span / s <= most) ?? 3600;
  face(11);
  paper.fillStyle = colour("quiet");
  for (let t = Math.ceil(start / step - 1e-9) * step; t <= end + 1e-9; t += step) {
    paper.fillRect(x(t), box.top, 1, 5);
    const text = end > 120 ? minutes(t, step) : `${Number(t.toFixed(1))} s`;
    if (x(t) + paper.measureText(text).width < x(end) + 8) paper.fillText(text, x(t) + 3, box.top + 12);
  }
}

function minutes(t, step) {
  const whole = Math.floor(t / 60 + 1e-9);
  const rest = (t - 60 * whole).toFixed(step < 1 ? 1 : 0);
  return `${whole}:${rest.padStart(step < 1 ? 4 : 2, "0")}`;
}

/** The whole recording in little: who speaks, where errors are, which part is shown. */
export function drawMap(canvas, { about, start, end, at }) {
  const { paper, width, height } = fit(canvas);
  const colour = colours(canvas);
  const span = width - GUTTER - RIGHT;
  const x = (t) => GUTTER + (t / about.seconds) * span;
  const rows = about.roles.length + (about.counted ? 1 : 0);
  const each = height / Math.max(1, rows);
  paper.textBaseline = "middle";
  paper.font = `10px ${getComputedStyle(canvas).fontFamily}`;
  const strip = (share, top, name) => {
    paper.fillStyle = colour(name);
    for (let i = 0; i < share.length; i += 1) {
      if (!share[i]) continue;
      const tall = Math.max(2, (share[i] / 255) * (each - 3));
      paper.fillRect(GUTTER + (i * span) / share.length, top + each - 1 - tall, Math.max(1, span / share.length), tall);
    }
  };
  about.roles.forEach((role, i) => {
    paper.fillStyle = colour("quiet");
    paper.fillText(role, 2, (i + 0.5) * each);
    strip(about.activity[role], i * each, roleColour(role));
  });
  if (about.counted) {
    paper.fillStyle = colour("quiet");
    paper.fillText(about.judged ? "errors" : "events", 2, (rows - 0.5) * each);
    strip(about.judged ? about.errors : about.events, (rows - 1) * each, about.judged ? "bad" : "gold");
  }
  paper.strokeStyle = colour("ink");
  paper.lineWidth = 1.5;
  paper.strokeRect(x(start), 0.75, Math.max(4, x(end) - x(start)), height - 1.5);
  if (at !== null) { paper.fillStyle = colour("play"); paper.fillRect(x(at) - 1, 0, 2, height); }
}
