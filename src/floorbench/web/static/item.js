// One item: the dialogue, its sound, what every run said about it, and why that counted.
import { address, announce, ask, clock, counted, h, itemParameters, located, refusal, sign, typing } from "./kit.js";
import { Player, entryOf } from "./player.js";
import { drawSmall, fetchWave } from "./wave.js";
import { TimeLine } from "./timeline.js";
import { cameFrom, selection } from "./items.js";

const SEEK = 0.5;
const LONG = 40;

export async function showItem({ group, parameters, current }) {
  const chosen = selection(parameters);
  const at = Number(parameters.at ?? 0);
  const key = { sample: parameters.sample, condition: parameters.condition ?? "", trial: Number(parameters.trial ?? 0) };
  const around = { ...chosen, group: group.position, offset: Math.max(0, at - 1), limit: 3 };
  const [item, near] = await Promise.all([
    ask("/api/item", itemParameters(group.position, key)),
    ask("/api/items", around).catch(() => null),
  ]);
  const run = Number(chosen.run ?? 0);
  cameFrom(group, chosen, at);
  const problem = h("div", {});
  const sounds = hearing(group, item, run, (text) => problem.replaceChildren(refusal(new Error(text))));
  const steps = neighbours(group, chosen, at, near, key);
  const onkey = keys({ sounds, steps, group, chosen });
  document.addEventListener("keydown", onkey);
  const redraw = () => sounds.draw();
  window.addEventListener("floorbench-theme", redraw);
  announce(`item ${at + 1}: ${item.text ?? item.key.sample}`);
  return {
    title: item.key.sample,
    leave: () => {
      document.removeEventListener("keydown", onkey);
      window.removeEventListener("floorbench-theme", redraw);
      sounds.leave();
    },
    ready: () => sounds.ready(current),
    nodes: [
      h("div", { class: "bar itembar" },
        h("a", { class: "button", href: address("items", chosen), "aria-keyshortcuts": "Escape" }, "← list"),
        steps.node),
      problem,
      h("div", { class: `columns${item.seconds > LONG ? " long" : ""}` },
        h("section", { class: "dialogue", "aria-label": "dialogue and sound" }, top(item, run), dialogue(item, sounds, run)),
        h("section", { class: "answers", "aria-label": "answers" },
          conditions(group, item, parameters),
          item.runs.map((r) => answer(r, r.run === run)),
          notes(group, item, run))),
    ],
  };
}

function neighbours(group, chosen, at, near, key) {
  const rows = near?.rows ?? [];
  const first = Math.max(0, at - 1);
  const place = (i) => {
    const line = rows[i - first];
    return line && address("item", {
      ...chosen, group: group.position || null, at: i, sample: line.key[0], condition: line.key[1],
      trial: line.key[2] || null,
    });
  };
  const here = rows[at - first];
  const moved = !here || here.key[0] !== key.sample || here.key[1] !== key.condition || here.key[2] !== key.trial;
  const before = at > 0 ? place(at - 1) : null;
  const after = moved ? place(at) : place(at + 1);
  const link = (to, text, key_) => (to
    ? h("a", { class: "button", href: to, "aria-keyshortcuts": key_ }, text)
    : h("span", { class: "button off", "aria-hidden": "true" }, text));
  return {
    before,
    after,
    node: [link(before, "‹ previous", "k"),
      h("span", { class: "quiet where" }, near ? `${(at + 1).toLocaleString("en")} of ${near.total.toLocaleString("en")}` : ""),
      link(after, "next ›", "j")],
  };
}

function keys({ sounds, steps, group, chosen }) {
  return (event) => {
    if (typing(event)) return;
    const onControl = /^(A|BUTTON|SUMMARY)$/.test(event.target.tagName);
    const act = {
      j: () => steps.after && (location.hash = steps.after),
      k: () => steps.before && (location.hash = steps.before),
      Escape: () => { location.hash = address("items", { ...chosen, group: group.position || null }); },
      ArrowRight: () => sounds.jump(SEEK),
      ArrowLeft: () => sounds.jump(-SEEK),
      c: () => sounds.all(),
      n: () => sounds.line().step({}),
      p: () => sounds.line().step({ back: true }),
      x: () => sounds.line().step({ errors: true }),
      X: () => sounds.line().step({ errors: true, back: true }),
      "+": () => sounds.line().zoom(0.5),
      "=": () => sounds.line().zoom(0.5),
      "-": () => sounds.line().zoom(2),
      0: () => sounds.line().about && sounds.line().show(0, sounds.line().about.seconds),
      "]": () => sounds.line().pan(0.5),
      "[": () => sounds.line().pan(-0.5),
      e: () => document.getElementById("note")?.focus(),
    };
    act.ArrowDown = act.j;
    act.ArrowUp = act.k;
    act.u = act.Escape;
    if (!onControl) act[" "] = () => sounds.toggle();
    if (act[event.key]) { event.preventDefault(); act[event.key](); }
  };
}

function top(item, run) {
  const own = item.runs[run];
  const layer = own?.layers?.[0];
  const tags = { ...item.tags };
  if (item.state) tags.state = item.state;
  return h("div", { class: "top" },
    h("h1", {}, layer ? sign(layer.verdict) : null, " ", h("span", {}, item.key.sample)),
    h("p", { class: "tags" }, Object.entries(tags).map(([k, v]) => h("span", { class: "chip", title: v.length > 120 ? v : null },
      h("span", { class: "quiet" }, `${k} `), v))),
    Object.keys(item.gold).length ? h("p", {}, h("span", { class: "goldmark" }, "gold "), goldText(item.gold)) : null);
}

function goldText(gold) {
  return Object.entries(gold).map(([k, v], i) => [i ? ", " : "", h("span", { class: "quiet" }, `${k} `), h("strong", {}, v)]);
}

function dialogue(item, sounds, run) {
  const seen = item.runs[run]?.seen;
  const first = seen ? item.turns.length - seen.turns : 0;
  const turn = (t, i) => h("li", { class: `turn ${t.role}${i < first ? " unseen" : ""}` },
    h("span", { class: "who" }, t.role),
    h("div", { class: "said" },
      h("p", { class: "words", lang: item.language }, t.text ?? "(no transcript)"),
      t.audio ? sounds.small(t.audio) : null));
  const block = (title, from, to) => (to > from
    ? h("div", {}, h("h2", { class: "small" }, title),
      h("ol", { class: "turns" }, item.turns.slice(from, to).map((t, i) => turn(t, from + i))))
    : null);
  const session = item.text === null && item.seconds > LONG;
  return [
    h("div", { class: "target" },
      h("h2", { class: "small" }, session ? "Session" : "Turn to decide on"),
      item.spoken ? h("p", { class: "quiet" }, `the system has said: “${item.spoken}”`) : null,
      session ? null : h("p", { class: "words", lang: item.language }, item.text || "(no transcript)"),
      sounds.large(item, run)),
    block(`Before it, ${counted(first, "turn")} that the system was not shown`, 0, first),
    block(`Context shown to the system, ${counted(item.turns.length - first, "turn")}`, first, item.turns.length),
    item.turns.length || session ? null : h("p", { class: "quiet" }, "No context."),
  ];
}

/** Everything on the page that sounds. */
function hearing(group, item, run, onproblem) {
  const parts = [];
  const player = new Player(() => parts.forEach((p) => p.draw()), onproblem);
  let main = null;
  let line = null;
  let quiet = null;

  function play(entry) {
    return h("button", { type: "button", class: "play", onclick: () => player.toggle(entry) });
  }

  function face(button, entry, name) {
    const on = player.isPlaying(entry);
    const text = on ? "❚❚" : "▶";
    if (button.firstChild?.textContent !== text) {
      button.replaceChildren(h("span", { "aria-hidden": "true" }, text));
      button.setAttribute("aria-label", `${on ? "pause" : "play"} ${name}`);
    }
  }

  function missing(sound) {
    return h("p", { class: "problem small" }, `No sound: ${sound.problem}`);
  }

  function small(sound) {
    if (sound.problem) return missing(sound);
    const entry = entryOf(group.position, item.key, sound);
    const canvas = h("canvas", { class: "wave", "aria-hidden": "true" });
    const button = play(entry);
    const part = {
      entry,
      wave: null,
      draw: () => {
        face(button, entry, sound.part.replace("-", " "));
        if (part.wave && canvas.isConnected) {
          const time = player.time(entry);
          drawSmall(canvas, part.wave, time === null ? 0 : time / entry.seconds);
        }
      },
    };
    parts.push(part);
    canvas.addEventListener("click", (e) => player.play([entry], (e.offsetX / canvas.clientWidth) * entry.seconds));
    return h("div", { class: "sound" }, button, canvas, h("span", { class: "quiet time" }, `${entry.seconds.toFixed(1)} s`));
  }

  /** The time line of the item, with or without sound. */
  function large(shown) {
    const sound = shown.target;
    const entry = sound && !sound.problem ? entryOf(group.position, shown.key, sound) : null;
    line = new TimeLine({
      group, item: shown, run, entry,
      place: () => player.time(entry) ?? 0,
      seek: (seconds) => player.seek(entry, seconds),
    });
    if (!entry) {
      quiet = h("p", { class: sound ? "problem small" : "quiet" }, sound ? `No sound: ${sound.problem}` : "This item has no sound.");
      return h("div", { class: "player" }, quiet, line.node);
    }
    const button = play(entry);
    const slider = h("input", {
      type: "range", min: 0, max: sound.seconds, step: 0.01, value: 0, "aria-label": "position in the turn",
      oninput: () => line.go(Number(slider.value)),
    });
    const time = h("span", { class: "time quiet" });
    main = {
      entry,
      draw: () => {
        face(button, entry, "the turn");
        const now = player.time(entry);
        if (document.activeElement !== slider || player.isPlaying(entry)) slider.value = now ?? 0;
        time.textContent = `${clock(now ?? 0)} / ${clock(sound.seconds)}`;
        if (player.isPlaying(entry)) line.follow();
        else line.draw();
      },
    };
    parts.push(main);
    return h("div", { class: "player" }, line.node,
      h("div", { class: "transport" }, button, slider, time,
        shown.turns.some((t) => t.audio && !t.audio.problem)
          ? h("button", { type: "button", class: "plain", onclick: all, "aria-keyshortcuts": "c" }, "Play context and turn")
          : null));
  }

  function all() {
    const playable = parts.filter((p) => p.entry.seconds);
    if (playable.length) player.play(playable.map((p) => p.entry));
  }

  const redraw = () => { parts.forEach((p) => p.draw()); line?.draw(); };
  const sized = new ResizeObserver(redraw);
  return {
    small,
    large,
    all,
    line: () => line,
    toggle: () => main && player.toggle(main.entry),
    jump: (step) => line?.about && line.go((line.place() ?? 0) + step),
    draw: redraw,
    ready: async (current) => {
      redraw();
      sized.observe(document.getElementById("main"));
      if (main) player.load(main.entry);
      try {
        await line.load();
        if (!item.target && !line.empty) quiet.textContent = "No sound here: the time line shows what is annotated.";
        if (line.empty) line.node.remove();
      } catch (error) {
        onproblem(error.message);
      }
      for (const part of parts.filter((p) => p !== main)) {
        if (!current()) return;
        try {
          part.wave = await fetchWave(group.position, item.key, part.entry.part);
          part.draw();
        } catch (error) {
          onproblem(error.message);
        }
      }
      if (current()) document.getElementById("main").dataset.waves = "drawn";
    },
    leave: () => { sized.disconnect(); line?.leave(); player.stop(); delete document.getElementById("main").dataset.waves; },
  };
}

function conditions(group, item, parameters) {
  if (item.conditions.length < 2) return null;
  return h("div", { class: "bar tight", role: "group", "aria-label": "conditions of this sample" },
    item.conditions.map((c) => h("a", {
      class: "chip", "aria-current": c.condition === item.key.condition && c.trial === item.key.trial ? "true" : null,
      href: address("item", { ...parameters, condition: c.condition, trial: c.trial || null }),
    }, c.trial ? `${c.condition} trial ${c.trial} ` : `${c.condition} `, c.verdicts.map((v) => sign(v, { quiet: true })))));
}

function answer(run, focus) {
  const head = h("h3", {}, h("span", { class: "runno" }, String(run.run + 1)), run.name, run.reference ? " [reference]" : "");
  if (!run.due) return h("article", { class: "answer off" }, head, h("p", { class: "quiet" }, "Not asked about this item."));
  const d = run.decision;
  return h("article", { class: `answer${focus ? " focus" : ""}` },
    head,
    h("p", { class: "verdicts" }, run.layers.map((l) => h("span", { class: `verdict ${l.verdict}` },
      sign(l.verdict), h("span", { class: "quiet" }, ` ${l.name} `), l.predicted ?? "no usable answer"))),
    d ? h("dl", { class: "facts" },
      fact("native answer", d.label), fact("text", d.raw), fact("outcome", run.outcome === "ok" ? null : run.outcome),
      fact("reason", d.reason),
      Object.entries(d.scores).map(([k, v]) => fact(`score ${k}`, v.toPrecision(4))),
      fact("committed at", d.commit === null ? null : `${d.commit.toFixed(3)} s`),
      fact("compute", d.wall === null ? null : `${(d.wall * 1000).toFixed(1)} ms`
        + (d.batch > 1 ? `, an equal share of a batch of ${d.batch}` : "")),
      d.tokens_in === null ? null : fact("tokens", `${d.tokens_in} in, ${d.tokens_out ?? "–"} out`)) : null,
    h("ol", { class: "rule", "aria-label": "why this is right or wrong" }, run.rule.map((s) => h("li", {}, s))),
    h("details", {}, h("summary", {}, "what it was shown"), shown(run.seen)),
    run.units.map((u) => h("details", {}, h("summary", {}, `scoring units (${u.count} ${u.kind})`), units(u))));
}

function fact(name, value) {
  return value === null || value === undefined ? null : [h("dt", {}, name), h("dd", {}, String(value))];
}

function shown(seen) {
  return [h("dl", { class: "facts" },
    fact("turns of context", `${seen.turns} (${seen.audio_turns} with sound, ${seen.text_turns} with text)`),
    fact("channels", seen.channels.join(", ") || "none"),
    fact("transcript of the turn", seen.text ? "yes" : "no"),
    fact("timed words", seen.words || "none"),
    fact("cutoff", seen.cutoff === null ? "none" : `${seen.cutoff} s`)),
  seen.question ? h("pre", {}, seen.question) : null];
}

function units(u) {
  if (u.rows.length === 1) return h("dl", { class: "facts" }, u.columns.map((c, i) => fact(c, u.rows[0][i])));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${u.kind} units` }, h("table", { class: "plain" },
    h("thead", {}, h("tr", {}, u.columns.map((c) => h("th", { scope: "col" }, c)))),
    h("tbody", {}, u.rows.map((r) => h("tr", {}, r.map((v) => h("td", {}, v)))))));
}

function notes(group, item, run) {
  const own = item.notes[run];
  const state = h("span", { class: "quiet", role: "status" }, own.changed ? `kept ${own.changed}` : "");
  const text = h("textarea", { id: "note", rows: 3, "aria-label": "note", value: own.text, placeholder: "What do you hear?" });
  const tags = h("input", { type: "text", id: "tags", value: own.tags.join(" "), "aria-label": "tags", placeholder: "tags, between blanks" });
  let before = Promise.resolve();
  const keep = () => { before = before.then(send); };
  const send = async () => {
    const sent = { text: text.value, tags: tags.value };
    try {
      const kept = await ask("/api/notes", { ...itemParameters(group.position, item.key), run }, sent);
      if (tags.value === sent.tags && document.activeElement !== tags) tags.value = kept.tags.join(" ");
      state.textContent = `kept ${kept.changed}`;
    } catch (error) {
      state.textContent = `not kept: ${error.message}`;
    }
  };
  text.addEventListener("change", keep);
  tags.addEventListener("change", keep);
  for (const field of [text, tags]) {
    field.addEventListener("keydown", (e) => { if (e.key === "Escape") field.blur(); });
  }
  const others = item.notes.filter((n) => n.run !== run && (n.text || n.tags.length));
  return h("div", { class: "notes" }, h("h2", { class: "small" }, "Notes"), text, tags,
    h("div", { class: "bar tight" }, h("button", { type: "button", onclick: keep }, "Keep"), state),
    others.map((n) => h("p", { class: "quiet" }, `${group.runs[n.run].name}: ${n.text} ${n.tags.map((t) => `#${t}`).join(" ")}`)));
}
