// Everything that sounds in an item under review: the turns before it, and the turn itself.
import { clock, h } from "./kit.js";
import { Player, entryOf } from "./player.js";
import { drawLines, layout, scale } from "./timeline-draw.js";
import { drawSmall, fetchWave } from "./wave.js";

/** The sound of one item; `heard` tells whether its own turn has been played. */
export class Hearing {
  constructor(item, onproblem) {
    this.item = item;
    this.key = { sample: item.place };
    this.heard = false;
    this.parts = [];
    this.main = null;
    this.onproblem = onproblem;
    this.player = new Player(() => this.draw(), onproblem);
    this.sized = new ResizeObserver(() => this.draw());
  }

  /** A turn of the history: a button, a small picture, a length. */
  small(sound) {
    if (sound === null) return null;
    if (sound.problem) return h("p", { class: "problem small" }, `No sound: ${sound.problem}`);
    const entry = entryOf(null, this.key, sound);
    const canvas = h("canvas", { class: "wave", "aria-hidden": "true" });
    const button = h("button", { type: "button", class: "play", onclick: () => this.player.toggle(entry) });
    canvas.addEventListener("click", (e) => this.player.play([entry], (e.offsetX / canvas.clientWidth) * entry.seconds));
    this.parts.push({
      entry, button, wave: null, name: sound.part.replace("-", " "),
      draw: (wave) => drawSmall(canvas, wave, (this.player.time(entry) ?? 0) / entry.seconds),
    });
    return h("div", { class: "sound" }, button, canvas, h("span", { class: "quiet time" }, `${entry.seconds.toFixed(1)} s`));
  }

  /** The turn to label: a lane per channel, its events, and where we are. */
  large() {
    const sound = this.item.target;
    if (sound === null) return h("p", { class: "quiet" }, "This item has no sound.");
    if (sound.problem) return h("p", { class: "problem small" }, `No sound: ${sound.problem}`);
    const { roles, events } = this.item;
    const entry = entryOf(null, this.key, sound);
    const plan = layout({ roles, waves: roles, speech: [], words: false, events: false, runs: [], signals: [], free: events.length > 0 });
    const canvas = h("canvas", { class: "line", role: "img", "aria-label": `sound of ${roles.join(" and ")}${events.length ? ", with events" : ""}` });
    canvas.style.height = `${plan.height}px`;
    const data = { activity: {}, words: [], events: [], traces: [] };
    const marks = events.map((e) => ({ kind: "event", text: e.kind, start: e.start, end: e.end }));
    const button = h("button", { type: "button", class: "play", onclick: () => this.toggle(), "aria-keyshortcuts": "Space" });
    const time = h("span", { class: "time quiet" });
    canvas.addEventListener("click", (e) => this.player.seek(entry, scale(canvas.clientWidth, 0, entry.seconds).t(e.offsetX)));
    this.main = {
      entry, button, wave: null, name: "the turn",
      draw: (wave) => {
        const at = this.player.time(entry) ?? 0;
        time.textContent = `${clock(at)} / ${clock(entry.seconds)}`;
        drawLines(canvas, plan, { start: 0, end: entry.seconds, data, wave, marks, at, selected: null, runs: [] });
        if (this.player.isPlaying(entry)) this.heard = true;
      },
    };
    this.parts.push(this.main);
    return h("div", { class: "player" }, canvas, h("div", { class: "transport" }, button, time,
      h("button", { type: "button", class: "plain", onclick: () => this.replay(), "aria-keyshortcuts": "r" }, "From the start"),
      this.item.turns.some((t) => t.audio && !t.audio.problem)
        ? h("button", { type: "button", class: "plain", onclick: () => this.all(), "aria-keyshortcuts": "c" }, "With its context")
        : null));
  }

  toggle() { if (this.main) this.player.toggle(this.main.entry); }

  replay() { if (this.main) this.player.play([this.main.entry]); }

  all() { if (this.parts.length) this.player.play(this.parts.map((p) => p.entry)); }

  draw() {
    for (const part of this.parts) {
      const on = this.player.isPlaying(part.entry);
      const text = on ? "❚❚" : "▶";
      if (part.button.firstChild?.textContent !== text) {
        part.button.replaceChildren(h("span", { "aria-hidden": "true" }, text));
        part.button.setAttribute("aria-label", `${on ? "pause" : "play"} ${part.name}`);
      }
      if (part.wave && part.button.isConnected) part.draw(part.wave);
    }
  }

  /** Fetch the pictures and, if wanted, play the turn, while `current()` says that the item is still shown. */
  async start(current, play) {
    const main = document.getElementById("main");
    this.sized.observe(main);
    this.draw();
    if (play) this.replay();
    try {
      for (const part of this.parts.toReversed()) {
        part.wave = await fetchWave(null, this.key, part.entry.part);
        if (!current()) return;
        this.draw();
      }
      main.dataset.waves = "drawn";
    } catch (error) {
      if (current()) this.onproblem(error.message);
    }
  }

  leave() {
    this.sized.disconnect();
    this.player.stop();
    delete document.getElementById("main").dataset.waves;
  }
}
