// A review, sheet by sheet: who is there, the items one by one, disagreements, agreement.
import { announce, ask, counted, h, refusal, typing } from "./kit.js";
import { Hearing } from "./review-sound.js";

const REJECT = "reject";
const UNSURE = "unsure";
const main = document.getElementById("main");
const state = { room: null, me: null, hearing: null, keys: {}, shown: 0, unsaved: 0 };

function button(text, onclick, extra = {}) {
  return h("button", { type: "button", onclick, ...extra }, text);
}

function problem(error) {
  document.getElementById("problem").replaceChildren(...(error ? [refusal(error)] : []));
}

const wrong = (text) => problem(new Error(text));

/** Show a sheet; whatever sounded before is silent now. */
function sheet(title, keys, ...children) {
  state.hearing?.leave();
  state.hearing = null;
  state.keys = keys;
  state.shown += 1;
  problem(null);
  main.replaceChildren(h("h1", {}, title), ...children.flat().filter((c) => c));
  document.getElementById("where").textContent = title;
  main.scrollTop = 0;
  main.focus();
  announce(title);
}

/** Run what may be refused, and say so. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    problem(error);
    return null;
  }
}

/** Send again and again while the server cannot be reached. */
async function surely(action) {
  state.unsaved += 1;
  try {
    for (let pause = 500; ; pause = Math.min(8000, pause * 2)) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        wrong("The answer is not kept yet: the server cannot be reached. Keep this page open; it goes on trying. If the server was started again, open the address that it printed: you go on at this item.");
        await new Promise((resolve) => { setTimeout(resolve, pause); });
      }
    }
  } finally {
    state.unsaved -= 1;
  }
}

document.addEventListener("keydown", (event) => {
  if (typing(event) || event.repeat) return;
  if (event.key === " " && /^(A|BUTTON|SUMMARY)$/.test(event.target.tagName)) return;
  const act = state.keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
window.addEventListener("beforeunload", (event) => { if (state.unsaved) event.preventDefault(); });

// ---- who -------------------------------------------------------------------------------------

function welcome() {
  state.me = null;
  const id = h("input", {
    type: "text", name: "id", required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false",
    pattern: "(?=.*[0-9])[a-z0-9][a-z0-9_\\-]{0,31}", "aria-describedby": "id-help",
  });
  const form = h("form", { onsubmit: (e) => { e.preventDefault(); attempt(() => join(id.value.trim())); } },
    h("label", { class: "id" }, h("span", {}, "Reviewer id"), id,
      h("span", { class: "quiet", id: "id-help" }, "Such as r1. Not your name. The same id goes on where it stopped.")),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Label"),
      button("Adjudicate", () => { if (form.reportValidity()) attempt(() => adjudicate(id.value.trim())); }),
      button("Agreement", () => attempt(results))));
  sheet(`Review of ${state.room.name}`, {},
    h("p", {}, `${counted(state.room.items, "item")}. Hear each one with what came before it, and say what it is. The dataset's own label is not shown.`), form);
  id.focus();
}

async function join(id) {
  const made = await ask("/api/join", {}, { id });
  state.me = { id, answers: made.answers };
  const open = made.answers.indexOf(null);
  if (open < 0) finished();
  else await label(open);
}

function finished() {
  const first = button("Agreement", () => attempt(results), { class: "main" });
  sheet("All items are labelled", {
    k: () => attempt(() => label(state.me.answers.length - 1)),
  },
  h("p", {}, "Everything is kept. Answers can still be changed until an item is adjudicated."),
  h("div", { class: "actions" }, first, button("Back to the items", () => attempt(() => label(0))),
    button("Adjudicate", () => attempt(() => adjudicate(state.me.id))), button("Next reviewer", welcome)));
  first.focus();
}

// ---- labelling -------------------------------------------------------------------------------

/** The labels of an item as buttons; returns them with their keys. */
function choices(item, chosen, pick) {
  const keys = {};
  const one = (label, name, key) => {
    keys[key] = () => pick(label);
    return button([h("kbd", { "aria-hidden": "true" }, key), name], () => pick(label),
      { "aria-pressed": String(label === chosen), "aria-keyshortcuts": key, "data-label": label });
  };
  const groups = [...new Set(item.labels.map((l) => l.group))];
  const node = h("div", { class: "choices" },
    groups.map((group) => h("fieldset", {}, h("legend", {}, group || "label"),
      item.labels.map((l, i) => (l.group === group ? one(l.label, l.name, String(i + 1)) : null)))),
    h("fieldset", {}, h("legend", {}, "none of these"), one(REJECT, "Reject", "x"), one(UNSURE, "Unsure", "u")));
  return { node, keys };
}

function dialogue(item, hearing) {
  const turn = (t) => h("li", { class: `turn ${t.role}` }, h("span", { class: "who" }, t.role),
    h("div", {}, h("p", { class: "words", lang: item.language }, t.text ?? "(no transcript)"), hearing.small(t.audio)));
  const context = item.turns.length
    ? h("ol", { class: "turns", "aria-label": "context" }, item.turns.map(turn))
    : h("p", { class: "quiet" }, "Nothing came before it.");
  return [
    h("p", { class: "tags" }, [["language", item.language], ["state", item.state]].filter(([, v]) => v).map(([k, v]) => h("span", { class: "chip" }, h("span", { class: "quiet" }, `${k} `), v))),
    context,
    h("div", { class: "target" }, h("h2", { class: "small" }, "The turn to label"),
      item.spoken ? h("p", { class: "quiet" }, `the system has said: “${item.spoken}”`) : null,
      item.text === null ? null : h("p", { class: "words", lang: item.language }, item.text || "(no transcript)"),
      hearing.large()),
  ];
}

function soundKeys(hearing) {
  return { " ": () => hearing.toggle(), r: () => hearing.replay(), c: () => hearing.all() };
}

function stepKeys(back, on) {
  return { j: on, ArrowRight: on, k: back, ArrowLeft: back };
}

function keysLine() {
  const key = (name, what) => [h("kbd", {}, name), ` ${what}  `];
  return h("p", { class: "keys-line" }, key("1…9", "label"), key("x", "reject"), key("u", "unsure"), key("space", "play, pause"),
    key("r", "from the start"), key("c", "with context"), key("j", "next"), key("k", "previous"));
}

function show(title, hearing, play, keys, ...children) {
  sheet(title, { ...soundKeys(hearing), ...keys }, ...children);
  (main.querySelector(".revealed") ?? main.querySelector(".target")).scrollIntoView({ block: "nearest" });
  state.hearing = hearing;
  const shown = state.shown;
  hearing.start(() => shown === state.shown, play);
}

async function label(place) {
  const { id, answers } = state.me;
  const item = await ask("/api/item", { sample: place });
  const hearing = new Hearing(item, wrong);
  let busy = false;
  const pick = async (chosen) => {
    if (busy) return;
    if (hearing.main && !hearing.heard && chosen !== REJECT && chosen !== UNSURE) {
      wrong("Hear the turn first: press the space bar.");
      return;
    }
    busy = true;
    await attempt(async () => {
      await surely(() => ask("/api/answer", {}, { id, sample: place, label: chosen, heard: hearing.heard }));
      answers[place] = chosen;
      const after = answers.indexOf(null, place + 1);
      const open = after < 0 ? answers.indexOf(null) : after;
      if (open < 0) finished();
      else await label(open);
    });
    busy = false;
  };
  const back = () => { if (place > 0) attempt(() => label(place - 1)); };
  const on = () => { if (place + 1 < answers.length) attempt(() => label(place + 1)); else if (!answers.includes(null)) finished(); };
  const { node, keys } = choices(item, answers[place], pick);
  const done = answers.filter((a) => a !== null).length;
  const bar = h("div");
  bar.style.width = `${(100 * done) / answers.length}%`;
  show(`Item ${place + 1} of ${answers.length}`, hearing, true, { ...stepKeys(back, on), ...keys },
    h("div", { class: "done", role: "img", "aria-label": `${done} of ${answers.length} labelled` }, bar),
    dialogue(item, hearing), node,
    h("div", { class: "steps" }, button("‹ previous", back, { disabled: place === 0 }), button("next ›", on, { disabled: place + 1 === answers.length && answers.includes(null) })),
    keysLine());
}

// ---- disagreements ---------------------------------------------------------------------------

async function adjudicate(id) {
  const { disputes } = await ask("/api/disputes", {}, { id });
  if (!disputes.length) {
    sheet("No disagreements", { Escape: welcome }, h("p", {}, "Wherever two reviewers have answered, they agree."),
      h("div", { class: "actions" }, button("Agreement", () => attempt(results), { class: "main" }), button("Back", welcome)));
    main.querySelector("button").focus();
    return;
  }
  const open = disputes.findIndex((d) => d.decided === null);
  await dispute(id, disputes, open < 0 ? 0 : open);
}

function spelled(item, name) {
  const found = item.labels.find((l) => l.label === name);
  return found ? [found.group, found.name].filter(Boolean).join(" · ") : name;
}

async function dispute(id, disputes, at) {
  const found = disputes[at];
  const item = await ask("/api/item", { sample: found.place });
  const hearing = new Hearing(item, wrong);
  let busy = false;
  const pick = async (chosen) => {
    if (busy) return;
    busy = true;
    await attempt(async () => {
      disputes[at] = await surely(() => ask("/api/decide", {}, { id, sample: found.place, label: chosen }));
      await dispute(id, disputes, at);
    });
    busy = false;
  };
  const back = () => { if (at > 0) attempt(() => dispute(id, disputes, at - 1)); };
  const on = () => attempt(() => (at + 1 < disputes.length ? dispute(id, disputes, at + 1) : results()));
  const { node, keys } = choices(item, found.decided, pick);
  const said = h("dl", { class: "labels-said", "aria-label": "labels" },
    Object.entries(found.labels).map(([who, name]) => [h("dt", {}, who), h("dd", {}, spelled(item, name))]));
  const revealed = found.decided === null
    ? h("p", { class: "quiet" }, "The dataset's label is shown after the decision.")
    : h("dl", { class: "labels-said revealed", role: "status" },
      h("dt", {}, "decided"), h("dd", {}, spelled(item, found.decided)),
      h("dt", { class: "goldmark" }, "dataset"), h("dd", {}, spelled(item, found.gold)),
      h("dt", {}, "verdict"), h("dd", {}, found.decided === found.gold ? "accept" : "reject"));
  show(`Disagreement ${at + 1} of ${disputes.length}`, hearing, found.decided === null, { ...stepKeys(back, on), ...keys },
    dialogue(item, hearing), h("h2", { class: "small" }, "What the reviewers say"), said, node, revealed,
    h("div", { class: "steps" }, button("‹ previous", back, { disabled: at === 0 }), button(at + 1 < disputes.length ? "next ›" : "agreement ›", on)),
    keysLine());
}

// ---- agreement -------------------------------------------------------------------------------

const NAMES = { kappa_free: "free-marginal kappa", kappa_cohen: "Cohen's kappa" };

function number(value) {
  return value === null ? "–" : value.toFixed(3);
}

function line(a) {
  const i = a.interval;
  const range = i && i.low !== null ? `${number(i.low)} to ${number(i.high)}` : i?.reason ?? "";
  return h("tr", {}, h("th", { scope: "row" }, NAMES[a.metric]), h("td", {}, a.part), h("td", {}, a.reviewers.join(", ")),
    h("td", { class: "number" }, String(a.items)), h("td", { class: "number" }, number(a.value)),
    h("td", {}, a.value === null ? a.reason : range));
}

async function results() {
  const found = await ask("/api/agreement");
  const first = button("Back", () => (state.me ? finishedOr() : welcome()), { class: "main" });
  const people = Object.entries(found.reviewers);
  sheet("Agreement", { Escape: welcome },
    h("p", {}, people.length ? people.map(([who, n]) => `${who}: ${n} of ${found.items}`).join(", ") : "Nobody has answered yet."),
    h("p", {}, `Settled: ${found.settled} of ${counted(found.items, "item")}; ${counted(found.disputed, "disagreement")}, ${found.undecided} of them open.`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "coefficients" }, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, ["coefficient", "state", "reviewers", "items", "value", "95 % interval"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, found.agreement.map(line)))),
    h("p", { class: "quiet" }, "Answers “unsure” count as none, “reject” is a category. Adjudication plays no part."),
    h("div", { class: "actions" }, first, button("Next reviewer", welcome)));
  first.focus();
}

function finishedOr() {
  const open = state.me.answers.indexOf(null);
  if (open < 0) finished();
  else attempt(() => label(open));
}

state.room = await attempt(() => ask("/api/room"));
if (state.room) {
  document.title = `Review of ${state.room.name}`;
  document.getElementById("top").append(h("span", { class: "brand" }, "floorbench review"), h("span", { class: "quiet", id: "where" }));
  welcome();
}
