// The time line of an item: the part that is shown, what can be chosen, and stepping through it.
import { announce, ask, choice, clock, h, itemParameters, refusal } from "./kit.js";
import { fetchWave } from "./wave.js";
import { drawLines, drawMap, layout, scale } from "./timeline-draw.js";

const WINDOW = 20;
const WHOLE = 40;
const SHORTEST = 0.5;
const SETTLE = 90;
const TABLE = 60;
const FIRST_SIGNALS = ["eot", "bc"];

function bytes(packed) {
  return Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
}

/**
 * A time line. `entry` is the sound of the item or null; `place` gives the second that is heard
 * now and `seek` moves it; without sound the line keeps a place of its own.
 */
export class TimeLine {
  constructor({ group, item, run, entry, place, seek }) {
    Object.assign(this, { group, item, run, entry, seek, heard: place });
    this.canvas = h("canvas", { class: "line", role: "img", "aria-label": "time line: channels, events and answers" });
    this.map = h("canvas", { class: "map", "aria-hidden": "true" });
    this.tools = h("div", { class: "bar tight tools" });
    this.told = h("p", { class: "told" });
    this.table = h("details", { class: "inview", ontoggle: () => this.list() });
    this.node = h("div", { class: "timeline" }, this.tools, this.map, this.canvas, this.told, this.table);
    this.about = null;
    this.data = null;
    this.wave = null;
    this.start = 0;
    this.end = 1;
    this.own = 0;
    this.selected = null;
    this.signals = null;
    this.asked = 0;
    this.watch();
  }

  get parameters() {
    return { ...itemParameters(this.group.position, this.item.key), run: this.run, kind: this.kind, reading: this.reading };
  }

  get long() {
    return this.about !== null && this.about.seconds > WHOLE;
  }

  place() {
    return this.entry ? this.heard() : this.long ? this.own : null;
  }

  /** Fetch the whole in little, then the part that is shown. */
  async load() {
    const about = await ask("/api/line", this.parameters);
    about.roles.forEach((role) => { about.activity[role] = bytes(about.activity[role]); });
    about.events = bytes(about.events);
    about.errors = bytes(about.errors);
    const kind = about.kinds.find((k) => k.name === about.kind);
    this.first = this.about === null;
    this.about = Object.assign(about, { counted: kind?.count ?? 0, judged: about.right !== null && about.reason === null });
    this.kind = about.kind;
    this.reading = about.reading;
    if (this.signals === null) {
      const usual = about.signals.filter((s) => FIRST_SIGNALS.includes(s));
      this.signals = usual.length ? usual : about.signals.slice(0, 2);
    }
    if (this.first) this.end = this.long ? WINDOW : Math.max(about.seconds, 0.1);
    this.map.hidden = !this.long;
    this.controls(kind);
    await this.fetch(true);
  }

  /** Whether there is anything in time at all. */
  get empty() {
    return this.about !== null && this.about.seconds === 0;
  }

  controls(kind) {
    const { about } = this;
    const button = (text, label, keys, act) => h("button", {
      type: "button", class: "small", "aria-label": label, title: `${label} (${keys})`, "aria-keyshortcuts": keys, onclick: act,
    }, text);
    const steps = about.counted && kind ? [
      h("span", { class: "steps", role: "group", "aria-label": "step through events" },
        button("‹", "previous event", "p", () => this.step({ back: true })), "event",
        button("›", "next event", "n", () => this.step({}))),
      about.judged ? h("span", { class: "steps", role: "group", "aria-label": "step through errors" },
        button("‹", "previous error", "Shift+X", () => this.step({ back: true, errors: true })), "error",
        button("›", "next error", "x", () => this.step({ errors: true }))) : null,
    ] : [];
    const many = about.kinds.length > 1;
    const readings = kind?.readings ?? [];
    this.tools.replaceChildren(...[
      many ? choice("events", about.kinds.map((k) => [k.name, `${k.title} (${k.count})`]), this.kind, (v) => this.choose({ kind: v, reading: null })) : null,
      readings.length > 1 ? choice("read", readings.map((r) => [r, r]), this.reading, (v) => this.choose({ reading: v })) : null,
      ...steps,
      this.long || about.seconds > 5 ? h("span", { class: "steps", role: "group", "aria-label": "zoom" },
        button("−", "zoom out", "-", () => this.zoom(2)), button("+", "zoom in", "+", () => this.zoom(0.5)),
        button("all", "the whole", "0", () => this.show(0, about.seconds))) : null,
      about.signals.length ? h("span", { class: "steps signals", role: "group", "aria-label": "scores that are drawn" },
        "scores", about.signals.map((s) => h("button", {
          type: "button", class: `chip${this.signals.includes(s) ? " on" : ""}`,
          "aria-pressed": String(this.signals.includes(s)), onclick: () => this.toggle(s),
        }, s))) : null,
    ].filter(Boolean));
    const said = [];
    if (kind && about.judged) said.push(`${about.right} of ${kind.count} ${kind.title} right (${about.reading}).`);
    else if (kind && about.reason) said.push(`${kind.title}: no answers (${about.reason}).`);
    if (about.signals.length) {
      const ahead = about.look_ahead ? `${Number(about.look_ahead.toFixed(3))} s look-ahead included` : "no look-ahead";
      said.push(`Scores stand where they were committed, at the end of a frame of ${Math.round(about.frame * 1000)} ms (${ahead}); user solid, system dashed.`);
    }
    this.tally = said.join(" ");
    this.tell();
  }

  tell() {
    const e = this.selected;
    this.told.replaceChildren(...(e ? this.sentence(e).flat() : [h("span", { class: "quiet" }, this.tally ?? "")]));
  }

  sentence(e) {
    return [
      h("strong", {}, `${clock(e.time)} `, e.role ? `${e.role}: ` : "", e.label), e.rule ? ` – ${e.rule}. ` : " ",
      e.answers.map((a) => h("span", { class: `verdict ${a.verdict}` },
        h("span", { class: "runno" }, String(a.run + 1)), h("span", { class: "sign" }, a.verdict === "right" ? "✓" : "✗"),
        ` ${a.label ?? "no usable answer"} (${a.verdict}) `)),
    ];
  }

  async choose(what) {
    Object.assign(this, what);
    this.selected = null;
    await this.load();
  }

  toggle(signal) {
    const on = this.signals.includes(signal);
    this.signals = on ? this.signals.filter((s) => s !== signal) : this.about.signals.filter((s) => s === signal || this.signals.includes(s)).slice(0, 6);
    this.controls(this.about.kinds.find((k) => k.name === this.kind));
    [...this.tools.querySelectorAll(".signals button")].find((b) => b.textContent === signal)?.focus();
    return this.fetch(true);
  }

  /** Fetch what is shown with as much again on both sides, unless it is there already. */
  async fetch(again = false) {
    const { start, end } = this;
    const width = end - start;
    const there = this.data && this.data.start <= Math.max(0, start) && this.data.end >= Math.min(end, this.about.seconds)
      && this.data.end - this.data.start <= 4 * width + 1;
    if (there && !again) { this.draw(); this.list(); return; }
    const turn = ++this.asked;
    const span = { start: Math.max(0, start - width), end: Math.min(this.about.seconds, end + width) || 0.1 };
    if (span.end <= span.start) span.end = span.start + 0.1;
    const sound = this.entry && !(this.wave && this.wave.asked.start <= span.start && this.wave.asked.end >= span.end && this.wave.width <= 2 * width);
    try {
      const [data, wave] = await Promise.all([
        ask("/api/span", { ...this.parameters, ...span, signals: this.signals.join(",") }),
        sound ? fetchWave(this.group.position, this.item.key, this.entry.part, this.long ? span : {}) : this.wave,
      ]);
      if (turn !== this.asked) return;
      this.data = data;
      if (sound) this.wave = Object.assign(wave, { asked: this.long ? span : { start: 0, end: Infinity }, width: this.long ? width : 0 });
      this.draw();
      this.list();
    } catch (error) {
      if (turn === this.asked) this.told.replaceChildren(refusal(error));
    }
  }

  /** Show a part; it stays inside the recording. */
  show(start, end) {
    const whole = Math.max(this.about.seconds, 0.1);
    const width = Math.min(Math.max(end - start, SHORTEST), whole);
    this.start = Math.max(0, Math.min(start, whole - width));
    this.end = this.start + width;
    this.draw();
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.fetch(), SETTLE);
  }

  pan(share) {
    if (!this.about) return;
    const by = (this.end - this.start) * share;
    this.show(this.start + by, this.end + by);
  }

  zoom(factor, around = null) {
    if (!this.about) return;
    const at = this.place();
    const middle = around ?? (at !== null && at >= this.start && at <= this.end ? at : (this.start + this.end) / 2);
    this.show(middle - (middle - this.start) * factor, middle + (this.end - middle) * factor);
  }

  /** Go to the next or previous event or error, from where we are. */
  async step({ back = false, errors = false }) {
    if (!this.about?.counted) return;
    const at = this.selected?.time ?? this.place() ?? (back ? this.end : this.start - 0.001);
    let found;
    try {
      found = await ask("/api/step", { ...this.parameters, at, back: back ? 1 : null, errors: errors ? 1 : null });
    } catch (error) {
      this.told.replaceChildren(refusal(error));
      return;
    }
    const what = errors ? "error" : "event";
    if (!found) { announce(`no ${back ? "earlier" : "later"} ${what}`); this.told.replaceChildren(h("span", { class: "quiet" }, `There is no ${back ? "earlier" : "later"} ${what}.`)); return; }
    this.selected = found;
    const width = this.end - this.start;
    if (found.time < this.start + width * 0.1 || found.time > this.end - width * 0.1) this.show(found.time - width / 2, found.time + width / 2);
    this.go(found.time, { keep: true });
    this.tell();
    announce(this.told.textContent);
  }

  /** Put the playhead somewhere. */
  go(seconds, { keep = false } = {}) {
    if (!keep) { this.selected = null; this.tell(); }
    if (this.entry) this.seek(seconds);
    else this.own = Math.max(0, Math.min(seconds, this.about?.seconds ?? 0));
    const at = this.place();
    if (at !== null && (at < this.start || at > this.end)) {
      const width = this.end - this.start;
      this.show(at - width / 2, at + width / 2);
    }
    this.draw();
  }

  /** While it sounds the picture goes along. */
  follow() {
    const at = this.place();
    if (this.about && this.long && at !== null && at >= this.end) this.show(at - 0.05 * (this.end - this.start), at + 0.95 * (this.end - this.start));
    else this.draw();
  }

  marks() {
    const out = this.data.events.filter((e) => !e.role).map((e) => ({ start: e.time, end: e.end, text: e.label, kind: "gold", of: "gold" }));
    if (this.data.cutoff !== null && !this.long) out.push({ start: this.data.cutoff, end: null, text: "cutoff", kind: "cutoff", of: "" });
    const number = (run) => (this.group.runs.length > 1 ? `${run + 1} ` : "");
    for (const e of this.data.said) {
      const name = this.group.runs[e.run].name;
      const same = out.find((m) => m.said === e.kind && Math.abs(m.start - e.start) < 0.005 && m.end === e.end);
      if (same) {
        same.runs.push(e.run + 1);
        same.text = `${same.runs.join(", ")} ${e.kind}`;
        same.of += `, ${name}`;
      } else {
        const kind = e.kind === "commit" ? "commit" : "predicted";
        out.push({ start: e.start, end: e.end, commit: e.commit, text: `${number(e.run)}${e.kind}`, kind, said: e.kind, runs: [e.run + 1], of: name });
      }
    }
    return out;
  }

  draw() {
    if (!this.data || !this.canvas.isConnected) return;
    const { data } = this;
    const waves = this.wave ? this.wave.lanes.map(([role]) => role) : [];
    const spoken = this.about.roles;
    const roles = [...new Set([...waves, ...spoken, ...data.words.map((w) => w.role)])];
    const marks = this.marks();
    const plan = layout({
      roles, waves, speech: spoken, words: this.about.words > 0, free: marks.length > 0 || !this.kind || this.kind === "gold",
      events: Boolean(this.kind) && this.kind !== "gold", runs: this.answering(), signals: this.signals,
    });
    this.canvas.style.setProperty("height", `${plan.height}px`);
    const view = { start: this.start, end: this.end, at: this.place() };
    drawLines(this.canvas, plan, { ...view, data, wave: this.wave, marks, selected: this.selected, runs: this.answering() });
    if (this.long) drawMap(this.map, { about: this.about, ...view });
  }

  /** The runs whose answers stand in the lanes: those that were asked, the one in focus first. */
  answering() {
    return this.item.runs.filter((r) => r.due);
  }

  /** The same in words: what is shown, as a table. */
  list() {
    if (!this.data) return;
    const inside = (t, end) => (end ?? t) >= this.start && t <= this.end;
    const events = this.data.events.filter((e) => e.role && inside(e.time, e.end));
    const marks = this.marks().filter((m) => inside(m.start, m.end));
    const count = events.length + marks.length;
    this.table.hidden = count === 0;
    const summary = this.table.querySelector("summary") ?? h("summary", {});
    summary.textContent = `events and decisions in time (${count}${this.long ? ` from ${clock(this.start)} to ${clock(this.end)}` : ""})`;
    this.table.replaceChildren(summary, ...(this.table.open ? [this.rows(events.slice(0, TABLE), marks.slice(0, TABLE))] : []));
    if (this.table.open && count > 2 * TABLE) this.table.append(h("p", { class: "quiet" }, "Zoom in to list the others."));
  }

  rows(events, marks) {
    const seconds = (t) => (t === null || t === undefined ? "" : `${t.toFixed(3)} s`);
    const runs = events.length ? this.answering() : [];
    const heads = ["what", "of", "start", "end", ...(marks.length ? ["commit"] : []), ...(events.length ? ["rule", ...runs.map((r) => r.name)] : [])];
    const body = [
      ...marks.map((m) => h("tr", {}, h("td", {}, m.text), h("td", {}, m.of), h("td", { class: "number" }, seconds(m.start)),
        h("td", { class: "number" }, seconds(m.end)), h("td", { class: "number" }, seconds(m.commit)),
        events.length ? [h("td", {}), runs.map(() => h("td", {}))] : null)),
      ...events.map((e) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "plain", onclick: () => { this.selected = e; this.go(e.time, { keep: true }); this.tell(); } }, e.label)),
        h("td", {}, e.role), h("td", { class: "number" }, seconds(e.time)), h("td", { class: "number" }, seconds(e.end)),
        marks.length ? h("td", {}) : null, h("td", {}, e.rule),
        runs.map((r) => { const a = e.answers.find((one) => one.run === r.run); return h("td", {}, a ? `${a.verdict === "right" ? "✓" : "✗"} ${a.label ?? "no usable answer"}` : ""); }))),
    ];
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "events in time" },
      h("table", { class: "plain" }, h("thead", {}, h("tr", {}, heads.map((t) => h("th", { scope: "col" }, t)))), h("tbody", {}, body)));
  }

  /** Pointer: a click seeks, a drag moves the picture; the map moves it at once. */
  watch() {
    let held = null;
    const second = (e) => scale(this.canvas.clientWidth, this.start, this.end).t(e.offsetX);
    this.canvas.addEventListener("pointerdown", (e) => { held = { x: e.offsetX, start: this.start, end: this.end, moved: false }; this.canvas.setPointerCapture(e.pointerId); });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!held || !this.about) return;
      if (Math.abs(e.offsetX - held.x) > 4) held.moved = true;
      const by = ((held.x - e.offsetX) / scale(this.canvas.clientWidth, 0, 1).span) * (held.end - held.start);
      if (held.moved && this.end - this.start < this.about.seconds) this.show(held.start + by, held.end + by);
    });
    this.canvas.addEventListener("pointerup", (e) => { if (held && !held.moved) this.go(second(e)); held = null; });
    this.canvas.addEventListener("pointercancel", () => { held = null; });
    this.canvas.addEventListener("wheel", (e) => {
      if (!this.about) return;
      if (e.ctrlKey) { e.preventDefault(); this.zoom(e.deltaY > 0 ? 1.25 : 0.8, second(e)); }
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) { e.preventDefault(); this.pan((e.deltaX || e.deltaY) / 800); }
    }, { passive: false });
    const there = (e) => {
      if (!this.about || !(e.buttons & 1)) return;
      const middle = scale(this.map.clientWidth, 0, this.about.seconds).t(e.offsetX);
      const half = (this.end - this.start) / 2;
      this.show(middle - half, middle + half);
    };
    this.map.addEventListener("pointerdown", (e) => { this.map.setPointerCapture(e.pointerId); there(e); });
    this.map.addEventListener("pointermove", there);
  }

  leave() {
    clearTimeout(this.settle);
    this.asked += 1;
  }
}
