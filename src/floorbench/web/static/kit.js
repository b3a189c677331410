// Building nodes (text is always text, never markup), talking to the server, and the address.

/** Make an element: properties starting with "on" are listeners, the rest attributes. */
export function h(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** An error that the server explained; `passing` when asking again may help. */
export class Refused extends Error {
  constructor(body, passing = false) {
    super(body.what);
    this.code = body.code;
    this.hint = body.hint;
    this.passing = passing;
  }
}

/** Ask the server for JSON; parameters without a value are left out. */
export async function ask(path, parameters = {}, body = undefined, signal = undefined) {
  const answer = await fetch(`${path}?${encoded(parameters)}`, body === undefined ? { signal } : {
    method: "POST",
    headers: { "content-type": "application/json", "x-floorbench": "1" },
    body: JSON.stringify(body),
    signal,
  });
  return (await opened(answer)).json();
}

/** Return an answer that is not a refusal. */
export async function opened(answer) {
  if (answer.ok) return answer;
  const passing = answer.status >= 500;
  if (answer.headers.get("content-type")?.startsWith("application/json")) {
    throw new Refused(await answer.json(), passing);
  }
  throw new Refused({ code: `HTTP ${answer.status}`, what: await answer.text(), hint: "" }, passing);
}

/** Encode parameters for an address, in order, without empty ones. */
export function encoded(parameters) {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") out.set(key, value);
  }
  return out.toString();
}

/** An address inside the page: "#/items?run=1". */
export function address(view, parameters = {}) {
  const rest = encoded(parameters);
  return `#/${view}${rest ? `?${rest}` : ""}`;
}

/** Read the address: the view and its parameters. */
export function located() {
  const [view, rest] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: view || "tables", parameters: Object.fromEntries(new URLSearchParams(rest ?? "")) };
}

/** The parameters that address one item and one of its parts. */
export function itemParameters(group, key) {
  return { group, sample: key.sample, condition: key.condition, trial: key.trial };
}

/** A number with its noun: "1 item", "2 items". */
export function counted(number, one, many = `${one}s`) {
  return `${Number(number).toLocaleString("en")} ${Number(number) === 1 ? one : many}`;
}

/** Say something to those who listen to the page rather than see it. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

const SIGNS = { right: "✓", wrong: "✗", undecided: "·", "not asked": "" };

/** The verdict as a sign with its word for those who cannot see it. */
export function sign(verdict, { quiet = false } = {}) {
  return h("span", { class: `sign ${verdict.replace(" ", "-")}`, title: verdict },
    h("span", { "aria-hidden": "true" }, SIGNS[verdict]),
    quiet ? null : h("span", { class: "hidden-text" }, verdict));
}

export function verdictOf(code) {
  return code === 1 ? "right" : code === 0 ? "wrong" : "undecided";
}

export function clock(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(2).padStart(5, "0")}`;
}

/** Fill a drop-down list. */
export function choice(label, options, value, onchange, extra = {}) {
  const select = h("select", { onchange: (e) => onchange(e.target.value), ...extra },
    options.map(([v, text]) => h("option", { value: v, selected: String(v) === String(value) }, text)));
  select.value = value;
  return h("label", { class: "field" }, h("span", {}, label), select);
}

/** A box that explains a refusal. */
export function refusal(error) {
  return h("div", { class: "problem", role: "alert" },
    h("strong", {}, error.code ? `${error.code} ` : "", error.message),
    error.hint ? h("p", {}, error.hint) : null);
}

/** Keyboard: true when a key press belongs to the field or control in focus. */
export function typing(event) {
  return event.ctrlKey || event.metaKey || event.altKey
    || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
    || document.querySelector("dialog[open]") !== null;
}
