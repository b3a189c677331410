// The listening session, sheet by sheet: consent, sound, latency test, the list, thanks.
import { announce, ask, counted, encoded, h, opened } from "./kit.js";
import { Capture, Sound } from "./listen-sound.js";

const PATIENCE = 30_000; // milliseconds until a question to the server is asked again
const MARGIN = 0.6; // seconds between deciding to play and the sound
const BUSY = "This computer was too busy: the sound had holes. Closing other programs helps.";
const main = document.getElementById("main");
const state = { room: null, me: null, sound: null };

function sheet(title, ...children) {
  main.replaceChildren(h("section", { class: "sheet" }, h("h1", {}, title), ...children));
  main.focus();
  announce(title);
}

function problem(error) {
  const box = document.getElementById("problem");
  box.replaceChildren(...(error ? [h("strong", {}, error.message), error.hint ? h("p", {}, error.hint) : ""] : []));
}

function button(text, onclick, extra = {}) {
  return h("button", { type: "button", onclick, ...extra }, text);
}

/**
 * Ask again and again while the server cannot be reached, does not answer, or cannot write; what
 * was recorded waits here. The server keeps what is sent twice once.
 */
async function surely(action) {
  for (let pause = 500; ; pause = Math.min(8000, pause * 2)) {
    try {
      const answer = await action(AbortSignal.timeout(PATIENCE));
      problem(null);
      return answer;
    } catch (error) {
      const full = error.code === "FB402";
      if (!full && !error.passing && !(error instanceof TypeError) && error.name !== "TimeoutError") throw error;
      problem({
        message: full ? `The answers cannot be written: ${error.message}` : "The computer that keeps the answers cannot be reached.",
        hint: "Keep this page open; it goes on trying. If it is closed, the same id goes on later.",
      });
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }
}

function post(name, body) {
  const { id } = state.me;
  return surely((signal) => ask(`/api/${name}`, {}, { id, ...body }, signal));
}

async function sendSound(me, parameters, pcm, first) {
  const address = `/api/sound?${encoded({ ...parameters, id: me.id, visit: me.visit, first: String(first) })}`;
  await surely(async (signal) => {
    const answer = await fetch(address, { method: "POST", headers: { "x-floorbench": "1" }, body: pcm.buffer, signal });
    await (await opened(answer)).json();
  });
}

async function fetchTurn(me, item) {
  const address = `/api/turn?${encoded({ id: me.id, item: String(item) })}`;
  return surely(async (signal) => (await opened(await fetch(address, { signal }))).arrayBuffer());
}

const voice = () => state.me.mode === "voice";

// ---- consent ---------------------------------------------------------------------------------

function consent() {
  const id = h("input", {
    type: "text", name: "id", required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false",
    pattern: "(?=.*[0-9])[a-z0-9][a-z0-9_\\-]{0,31}", "aria-describedby": "id-help",
  });
  const agreed = h("input", { type: "checkbox", name: "agreed", required: true });
  const form = h("form", { onsubmit: (e) => { e.preventDefault(); join(id.value.trim(), agreed.checked); } },
    h("label", { class: "check" }, agreed, h("span", {}, "I have read this and take part of my own free will.")),
    h("label", { class: "id" }, h("span", {}, "Participant id"), id,
      h("span", { class: "quiet", id: "id-help" }, "The id you were given, such as p01. Not your name.")),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Begin")));
  sheet("Before you begin", h("div", { class: "consent" }, state.room.consent), form);
}

async function join(id, agreed) {
  if (state.joining) return; // pressed twice
  state.joining = true;
  try {
    problem(null);
    state.me = await surely((signal) => ask("/api/join", {}, { id, agreed }, signal));
    state.sound ??= new Sound();
    await state.sound.start({ microphone: voice() });
    await post("device", { facts: state.sound.facts() });
    check();
  } catch (error) {
    await quiet();
    problem(error.name === "NotAllowedError" || error.name === "NotFoundError"
      ? { message: "The microphone cannot be used.", hint: "Allow it in the browser, plug one in, and press the button again." }
      : error);
  } finally {
    state.joining = false;
  }
}

// ---- sound -----------------------------------------------------------------------------------

function check() {
  const bar = h("div");
  let shown = true;
  const draw = () => {
    if (!shown) return;
    bar.style.transform = `scaleX(${Math.min(1, state.sound.level * 1.5)})`;
    requestAnimationFrame(draw);
  };
  const click = () => {
    const sound = state.sound.click();
    for (let i = 0; i < 3; i += 1) state.sound.play(sound, state.sound.now + 0.1 + 0.4 * i);
  };
  sheet("Sound",
    h("p", {}, "Put on headphones. The microphone must not hear what you hear."),
    h("div", { class: "actions" }, button("Play three clicks", click)),
    voice() ? [h("p", {}, h("br"), "Say something: the bar should move well to the right, and rest when you are quiet."),
      h("div", { class: "meter", role: "img", "aria-label": "loudness of the microphone" }, bar)] : null,
    h("div", { class: "actions" }, button("It works", () => { shown = false; beat(0); }, { class: "main" })));
  if (voice()) draw();
}

// ---- latency ---------------------------------------------------------------------------------

function beat(test) {
  const what = voice() ? "Say “ta” together with every click." : "Press the space bar, or tap the circle, together with every click.";
  sheet("Keeping time",
    h("p", {}, `You will hear ${counted(state.room.beats, "click")}, one a second. ${what} Do not wait for a click: be with it.`),
    h("p", { class: "quiet" }, "This measures how long your computer takes."),
    h("div", { class: "actions" }, button("Start the clicks", () => beats(test), { class: "main" })));
}

async function beats(test) {
  try {
    await measured(test);
  } catch (error) {
    interrupted(error);
  }
}

async function measured(test) {
  const { me, sound, room } = state;
  const circle = pad(voice() ? "ta · ta · ta" : "space");
  sheet("Keeping time", circle.node);
  const first = sound.frameTime(sound.now + MARGIN);
  const click = sound.click();
  const whole = sound.span();
  const times = Array.from({ length: room.beats }, (_, i) => first + i * room.period);
  times.forEach((t) => sound.play(click, t));
  const end = times.at(-1) + room.period;
  const taps = [];
  const stop = listenForKeys(circle, (heard) => taps.push(heard));
  let recorded = {};
  try {
    if (voice()) {
      const from = Math.round((first - room.period / 2) * sound.rate);
      await new Capture(sound, {
        first: from, last: Math.round(end * sound.rate),
        send: (pcm, at) => sendSound(me, { kind: "latency", item: String(test) }, pcm, at),
      }).finished;
      recorded = { rate: sound.rate, started: from / sound.rate, item: test, visit: me.visit };
    } else {
      await until(end);
    }
  } finally {
    stop();
  }
  const smooth = whole();
  const found = await post("latency", { kind: voice() ? "voice" : "tap", beats: times, taps, ...recorded });
  if (found.steady && smooth) {
    await ready();
    return;
  }
  const why = !smooth ? BUSY : found.latency === null
    ? `${found.used || "None"} of the clicks had a response.`
    : "The responses were not quite even.";
  sheet("Once more?", h("p", {}, why, " Another try helps us to place your responses."),
    h("div", { class: "actions" }, button("Try again", () => beats(test + 1), { class: "main" }),
      test >= 2 ? button("Go on without", () => ready().catch(interrupted)) : null));
}

function pad(text) {
  const node = voice() ? h("div", { class: "pad-key" }, text) : h("button", { type: "button", class: "pad-key" }, text);
  let timer = null;
  return {
    node,
    say: (t, on) => { node.textContent = t; node.classList.toggle("on", on); },
    feel: () => { node.classList.add("felt"); clearTimeout(timer); timer = setTimeout(() => node.classList.remove("felt"), 120); },
  };
}

/** Tell what was heard at every press of the space bar or of the circle; returns what ends it. */
function listenForKeys(circle, onpress) {
  if (voice()) return () => {};
  const press = (stamp) => { circle.feel(); onpress(state.sound.heardAt(stamp)); };
  const key = (e) => {
    if (e.code !== "Space") return;
    e.preventDefault();
    if (!e.repeat) press(e.timeStamp);
  };
  const up = (e) => { if (e.code === "Space") e.preventDefault(); };
  const touch = (e) => { e.preventDefault(); press(e.timeStamp); };
  document.addEventListener("keydown", key);
  document.addEventListener("keyup", up);
  circle.node.addEventListener("pointerdown", touch);
  return () => {
    document.removeEventListener("keydown", key);
    document.removeEventListener("keyup", up);
    circle.node.removeEventListener("pointerdown", touch);
  };
}

function until(time) {
  const { sound } = state;
  return new Promise((resolve, reject) => {
    const look = () => { // a clock that stands still or crawls is lost, so this always ends
      if (sound.lost) reject(sound.lost);
      else if (sound.now >= time) resolve();
      else setTimeout(look, 50);
    };
    look();
  });
}

// ---- the list --------------------------------------------------------------------------------

async function ready() {
  const left = state.me.items.filter((_, i) => !state.me.heard.includes(i));
  if (!left.length) { await thanks(); return; }
  const minutes = Math.max(1, Math.round(left.reduce((sum, i) => sum + i.seconds, 0) / 60));
  const how = voice()
    ? "Say “mhm”, “yes” or something as short, out loud, whenever you feel that a listener could say something."
    : "Press the space bar, or tap the circle, whenever you feel that a listener could say something.";
  sheet("Listen",
    h("p", {}, how, " Do it at every such place, not only where you yourself would."),
    h("ul", {}, h("li", {}, "A beep comes before every turn."),
      h("li", {}, `${counted(left.length, "turn")}, about ${counted(minutes, "minute")}.`),
      h("li", {}, "You can rest between turns.")),
    h("div", { class: "actions" }, button(state.me.heard.length ? "Go on" : "Start", run, { class: "main" }), leaveButton()));
}

function leaveButton() {
  return button("Stop and delete my answers", async () => {
    if (!window.confirm("Delete everything you gave and stop?")) return;
    try {
      await post("withdraw", {});
    } catch (error) {
      problem(error);
      return;
    }
    sheet("Deleted", h("p", {}, "Nothing of yours is kept. Thank you for your time."),
      h("div", { class: "actions" }, button("Next participant", again, { class: "main" })));
  });
}

async function run() {
  const { me, sound } = state;
  const todo = me.items.map((_, i) => i).filter((i) => !me.heard.includes(i));
  const circle = pad("");
  const count = h("p", { class: "progress" });
  const done = h("div");
  let resting = false;
  const rest = button("Rest after this turn", () => { resting = !resting; rest.textContent = resting ? "Resting after this turn" : "Rest after this turn"; });
  sheet(voice() ? "Respond out loud" : "Respond with the space bar", circle.node, count,
    h("div", { class: "track" }, done), h("div", { class: "actions center" }, rest));
  const playing = [];
  let hidden = false;
  const hide = () => { hidden ||= document.hidden; };
  document.addEventListener("visibilitychange", hide);
  const sent = [];
  const stop = listenForKeys(circle, (heard) => {
    const here = playing.find((p) => p.at <= heard && heard < p.stop);
    if (here) sent.push(post("key", { item: here.item, visit: me.visit, time: heard - here.start }).catch(problem));
  });
  const fetched = new Map();
  const load = (i) => {
    if (!fetched.has(i)) {
      const coming = fetchTurn(me, i).then((bytes) => sound.decode(bytes));
      coming.catch(() => {}); // looked at when the turn is due
      fetched.set(i, coming);
    }
    return fetched.get(i);
  };
  let free = 0;
  const finished = [];
  try {
    for (const [n, item] of todo.entries()) {
      const buffer = await load(item);
      const { start: lead, seconds } = me.items[item];
      const at = sound.frameTime(Math.max(free, sound.now + MARGIN));
      const here = { item, at, start: at + lead, stop: at + seconds };
      playing.splice(0, Math.max(0, playing.length - 1));
      playing.push(here);
      sound.play(buffer, at);
      free = here.stop;
      fetched.delete(item);
      if (n + 1 < todo.length) load(todo[n + 1]);
      const kept = keep(here, sent, () => hidden);
      kept.catch((error) => sound.lose(error)); // what cannot be kept ends the turn that plays
      finished.push(kept);
      await until(at);
      circle.say(voice() ? "listen and respond" : "space", true);
      count.textContent = `Turn ${me.items.length - todo.length + n + 1} of ${me.items.length}`;
      done.style.width = `${(100 * (me.items.length - todo.length + n)) / me.items.length}%`;
      await until(here.stop - (resting ? 0 : MARGIN + 0.1));
      if (resting) break;
    }
    await Promise.all(finished);
    await ready();
  } catch (error) {
    interrupted(error);
  } finally {
    stop();
    document.removeEventListener("visibilitychange", hide);
  }
}

/** Something went wrong inside a turn: it is played again, as after closing the page. */
function interrupted(error) {
  sheet("Interrupted", h("p", {}, error.message, " What you gave so far is kept. What was interrupted comes again."),
    error.hint ? h("p", { class: "quiet" }, error.hint) : null,
    h("div", { class: "actions" }, button("Go on", async () => {
      const { id } = state.me;
      await quiet();
      await join(id, true);
    }, { class: "main" })));
}

/** Let go of the sound, whatever state it is in. */
async function quiet() {
  const { sound } = state;
  state.sound = null;
  await sound?.close().catch(() => {});
}

async function heardSmoothly({ at, stop }) {
  await until(at);
  const whole = state.sound.span();
  await until(stop);
  return whole();
}

/** Record one turn to its end, then have it kept. */
async function keep(here, sent, hidden) {
  const { me, sound } = state;
  let heard = {};
  const smooth = heardSmoothly(here);
  smooth.catch(() => {}); // looked at below
  if (voice()) {
    const first = Math.round(here.start * sound.rate);
    const last = Math.round(here.stop * sound.rate);
    await new Capture(sound, {
      first, last, send: (pcm, at) => sendSound(me, { kind: "turn", item: String(here.item) }, pcm, at),
    }).finished;
    heard = { rate: sound.rate, frames: last - first };
  } else {
    await until(here.stop);
    await Promise.all(sent);
  }
  if (!(await smooth)) throw new Error(BUSY);
  const answer = await post("item", {
    item: here.item, visit: me.visit, started: here.start, ...heard,
    facts: { hidden: hidden(), outputLatency: sound.context.outputLatency ?? null, clock: sound.clock },
  });
  me.heard = answer.heard;
}

async function thanks() {
  await post("finish", {});
  sheet("Thank you", h("p", {}, "That was the whole list. Your answers are kept under the id ", h("strong", {}, state.me.id), "; with it you can have them deleted."),
    h("div", { class: "actions" }, button("Next participant", again, { class: "main" })));
}

async function again() {
  problem(null);
  await quiet();
  state.me = null;
  consent();
}

try {
  state.room = await ask("/api/room");
  consent();
} catch (error) {
  problem(error);
}
