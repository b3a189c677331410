// The page: header, which view is shown, following runs that are being written.
import { address, ask, choice, h, located, refusal, typing } from "./kit.js";
import { showTables } from "./tables.js";
import { showItems } from "./items.js";
import { showItem } from "./item.js";
import { showCompare } from "./compare.js";

const VIEWS = { tables: showTables, items: showItems, item: showItem, compare: showCompare };
const THEMES = ["auto", "light", "dark"];
const EVERY = 3000;
const state = { about: null, leave: null, shown: 0 };

function theme(value) {
  if (value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
  localStorage.setItem("floorbench-theme", value);
  window.dispatchEvent(new Event("floorbench-theme"));
}

function header(view, parameters) {
  const group = Number(parameters.group ?? 0);
  const groups = state.about.groups;
  const link = (name, title) => h("a", {
    href: address(name, { group: group || null }),
    "aria-current": view === name || (name === "items" && view === "item") ? "page" : null,
  }, title);
  const several = groups.length > 1;
  return [
    h("strong", { class: "brand" }, "floorbench"),
    h("nav", { "aria-label": "views" }, link("tables", "Tables"), link("items", "Items"),
      groups[group]?.runs.length > 1 ? link("compare", "Compare") : null),
    several
      ? choice("task and data", groups.map((g) => [g.position, `${g.task} · ${g.data}`]), group,
        (v) => { location.hash = address(view === "item" ? "items" : view, { group: v }); })
      : h("span", { class: "quiet about" }, `${groups[0].task} · ${groups[0].data}`),
    state.about.running ? h("span", { class: "badge live" }, "run being written") : null,
    h("span", { class: "grow" }),
    choice("theme", THEMES.map((t) => [t, t]), localStorage.getItem("floorbench-theme") ?? "auto", theme),
    h("button", { type: "button", class: "plain", onclick: help, "aria-keyshortcuts": "?" }, "Keys"),
  ];
}

function help() {
  const dialog = document.getElementById("help");
  const keys = [
    ["j / k, ↓ / ↑", "next and previous item"], ["Enter", "open the item"],
    ["Esc or u", "back to the list"], ["Space", "play or pause"],
    ["c", "play the context, then the turn"], ["← / →", "seek by half a second"],
    ["n / p", "next and previous event on the time line"], ["x / Shift X", "next and previous error"],
    ["+ / -, 0", "zoom in, out, show all of it"], ["[ / ]", "move the time line by half of it"],
    ["e", "write a note"], ["/", "search"], ["?", "this list"],
  ];
  dialog.replaceChildren(
    h("h2", { id: "help-title" }, "Keys"),
    h("dl", { class: "keys" }, keys.map(([k, what]) => [h("dt", {}, h("kbd", {}, k)), h("dd", {}, what)])),
    h("button", { type: "button", onclick: () => dialog.close(), autofocus: true }, "Close"));
  dialog.showModal();
}

async function show({ keep = false } = {}) {
  const { view, parameters } = located();
  const main = document.getElementById("main");
  const turn = ++state.shown;
  state.leave?.();
  state.leave = null;
  document.getElementById("top").replaceChildren(...header(view, parameters).filter(Boolean));
  const group = state.about.groups[Number(parameters.group ?? 0)];
  try {
    if (!VIEWS[view] || !group) throw new Error("there is no such view");
    const made = await VIEWS[view]({ group, parameters, keep, current: () => turn === state.shown });
    if (turn !== state.shown) { made.leave?.(); return; }
    state.leave = made.leave ?? null;
    document.title = `${made.title} – floorbench`;
    main.className = view;
    main.replaceChildren(...made.nodes);
    made.ready?.();
  } catch (error) {
    if (turn === state.shown) main.replaceChildren(h("div", { class: "pad" }, refusal(error)));
    if (!error.code) console.error(error);
  }
}

async function follow() {
  try {
    const about = await ask("/api/runs");
    const changed = about.version !== state.about.version;
    state.about = about;
    if (changed && located().view !== "item") await show({ keep: true });
  } catch (error) {
    document.getElementById("live").textContent = `the viewer does not answer: ${error.message}`;
  }
  if (state.about.running) setTimeout(follow, EVERY);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !typing(event)) { event.preventDefault(); help(); }
});
window.addEventListener("hashchange", () => { if (state.about) show(); });
theme(localStorage.getItem("floorbench-theme") ?? "auto");
try {
  state.about = await ask("/api/runs");
  await show();
  if (state.about.running) setTimeout(follow, EVERY);
} catch (error) {
  document.getElementById("main").replaceChildren(h("div", { class: "pad" }, refusal(error)));
}
