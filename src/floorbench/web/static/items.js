// The list of items: filters with counts, order, and a list that holds only the rows in sight.
import { address, announce, ask, choice, counted, h, located, sign, typing, verdictOf } from "./kit.js";

const ROW = 46;
const PAGE = 100;
const SPARE = 8;
const SORTS = [
  ["data", "data order"], ["score.1", "score, highest first"], ["score.0", "score, lowest first"],
  ["margin.1", "most confident first"], ["margin.0", "least confident first"],
  ["time.1", "slowest first"], ["id", "id"],
];
const HOW = [
  ["differ", "answers differ"], ["first-only", "only this one right"], ["second-only", "only the other right"],
  ["both", "both right"], ["neither", "both wrong"],
];
const remembered = { key: "", top: 0, active: 0 };

/** The part of the address that chooses items. */
export function selection(parameters) {
  const { at, sample, condition, trial, ...rest } = parameters;
  return rest;
}

export async function showItems({ group, parameters }) {
  const chosen = selection(parameters);
  const first = await ask("/api/items", { ...chosen, group: group.position, limit: PAGE, facets: 1 });
  const change = (what) => {
    location.hash = address("items", { ...selection(located().parameters), ...what });
  };
  const run = Number(chosen.run ?? 0);
  const list = rowsInSight(group, chosen, first, run);
  const search = h("input", {
    type: "search", id: "search", value: chosen.text ?? "", placeholder: "id, transcript, answer",
    onchange: (e) => change({ text: e.target.value }), "aria-label": "search in id, transcript and answer",
  });
  const sort = chosen.sort ? `${chosen.sort}${["score", "margin", "time"].includes(chosen.sort) ? `.${chosen.down ?? 0}` : ""}` : "data";
  const others = group.runs.filter((r) => r.run !== run);
  const onkey = (event) => {
    if (typing(event)) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    if (["j", "ArrowDown"].includes(event.key)) { event.preventDefault(); list.move(1); }
    if (["k", "ArrowUp"].includes(event.key)) { event.preventDefault(); list.move(-1); }
  };
  document.addEventListener("keydown", onkey);
  announce(counted(first.total, "item"));
  return {
    title: "Items",
    leave: () => { document.removeEventListener("keydown", onkey); list.leave(); },
    ready: list.ready,
    nodes: [
      h("aside", { class: "filters", "aria-label": "filters" }, filters(group, chosen, first, change)),
      h("section", { class: "listing", "aria-label": "items" },
        h("div", { class: "bar" },
          h("h1", { class: "small" }, counted(first.total, "item")),
          choice("run", group.runs.map((r) => [r.run, r.name]), run, (v) => change({ run: v, cell: null, against: null })),
          group.layers.length > 1
            ? choice("labels", group.layers.map((l) => [l, l]), chosen.layer ?? group.layers[0],
              (v) => change({ layer: v, gold: null, predicted: null }))
            : null,
          others.length
            ? choice("against", [["", "–"], ...others.map((r) => [r.run, r.name])], chosen.against ?? "",
              (v) => change({ against: v, how: v === "" ? null : chosen.how ?? "differ" }))
            : null,
          chosen.against !== undefined
            ? choice("where", HOW, chosen.how ?? "differ", (v) => change({ how: v })) : null,
          choice("order", SORTS, sort, (v) => {
            const [name, down] = v.split(".");
            change({ sort: name === "data" ? null : name, down: down ?? null });
          }),
          h("label", { class: "field" }, h("span", {}, "search"), search)),
        active(chosen, change),
        list.node),
    ],
  };
}

function active(chosen, change) {
  const names = Object.keys(chosen).filter((k) => !["group", "run", "layer", "sort", "down", "against", "how"].includes(k));
  if (!names.length) return null;
  const words = (k) => {
    if (k !== "cell") return `${k.replace("tag.", "")}: ${chosen[k] || "–"}`;
    const { metric, ...slice } = JSON.parse(chosen.cell);
    return `cell ${metric} ${Object.entries(slice).map(([a, b]) => `${a}=${b}`).join(" ")}`;
  };
  return h("p", { class: "active" }, names.map((k) => h("button", {
    type: "button", class: "chip on", title: "remove this filter", onclick: () => change({ [k]: null }),
  }, words(k), h("span", { "aria-hidden": "true" }, " ×"))));
}

function filters(group, chosen, first, change) {
  const blocks = first.facets.map((facet) => h("fieldset", {},
    h("legend", {}, facet.title),
    facet.values.map(({ value, count }) => option(facet.name, value, count, chosen, change))));
  if (first.noted) {
    blocks.unshift(h("fieldset", {}, h("legend", {}, "notes"),
      option("mark", "any", first.noted, chosen, change),
      first.marks.map((m) => option("mark", m, null, chosen, change))));
  }
  return [h("h2", { class: "small" }, "Filters"), ...blocks];
}

function option(name, value, count, chosen, change) {
  const on = chosen[name] === value;
  return h("button", {
    type: "button", class: `option${on ? " on" : ""}`, "aria-pressed": on ? "true" : "false",
    onclick: () => change({ [name]: on ? null : value }),
  }, h("span", { class: "what" }, value || "–"), count === null ? null : h("span", { class: "count" }, String(count)));
}

function rowsInSight(group, chosen, first, run) {
  const key = JSON.stringify([group.position, chosen]);
  const pages = new Map([[0, first.rows]]);
  const waiting = new Set();
  let total = first.total;
  let active = remembered.key === key ? Math.min(remembered.active, total - 1) : 0;
  let moved = false;
  const list = h("ol", { class: "rows" });
  const box = h("div", { class: "viewport", tabindex: "-1" }, head(group, run), list);
  box.style.setProperty("--runs", group.runs.length > 1 ? group.runs.length : 0);

  async function fetchPage(page) {
    if (waiting.has(page)) return;
    waiting.add(page);
    try {
      const more = await ask("/api/items", { ...chosen, group: group.position, offset: page * PAGE, limit: PAGE });
      pages.set(page, more.rows);
      if (pages.size > 30) pages.delete(pages.keys().next().value);
      if (more.total !== total) { total = more.total; }
      draw();
    } finally {
      waiting.delete(page);
    }
  }

  function draw() {
    const from = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const to = Math.min(total, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + SPARE);
    list.style.setProperty("height", `${total * ROW}px`);
    const rows = [];
    for (let i = from; i < to; i += 1) {
      const page = Math.floor(i / PAGE);
      const line = pages.get(page)?.[i % PAGE];
      if (!line) fetchPage(page);
      rows.push(row(line, i));
    }
    const focused = list.contains(document.activeElement);
    list.replaceChildren(...rows);
    if (focused) list.querySelector(`[data-at="${active}"]`)?.focus({ preventScroll: true });
  }

  function row(line, i) {
    const place = h("li", { "aria-setsize": total, "aria-posinset": i + 1, class: i === active && moved ? "active" : null });
    place.style.setProperty("top", `${i * ROW}px`);
    if (!line) { place.append(h("span", { class: "row quiet" }, "…")); return place; }
    place.append(h("a", {
      class: "row", "data-at": i, onfocus: () => { active = i; },
      href: address("item", {
        ...chosen, group: group.position || null, at: i,
        sample: line.key[0], condition: line.key[1], trial: line.key[2] || null,
      }),
    }, ...cells(line, group, run)));
    return place;
  }

  function move(step) {
    active = Math.max(0, Math.min(total - 1, moved ? active + step : active));
    moved = true;
    const top = active * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + 2 * ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + 2 * ROW - box.clientHeight;
    draw();
    list.querySelector(`[data-at="${active}"]`)?.focus({ preventScroll: true });
  }

  let asked = false;
  const onscroll = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
  box.addEventListener("scroll", onscroll, { passive: true });
  const sized = new ResizeObserver(onscroll);
  return {
    node: total ? box : h("p", { class: "pad quiet" }, group.items ? "No item fits these filters." : "These runs were asked about no item."),
    move,
    ready: () => {
      if (!total) return;
      sized.observe(box);
      if (remembered.key === key) { box.scrollTop = remembered.top; moved = true; }
      draw();
      if (moved) list.querySelector(`[data-at="${active}"]`)?.focus({ preventScroll: true });
    },
    leave: () => {
      sized.disconnect();
      Object.assign(remembered, { key, top: box.scrollTop, active });
    },
  };
}

/** Remember which item was looked at, so that the list comes back to it. */
export function cameFrom(group, chosen, at) {
  const key = JSON.stringify([group.position, chosen]);
  const top = remembered.key === key ? remembered.top : Math.max(0, (at - 3) * ROW);
  Object.assign(remembered, { key, top: Math.abs(at * ROW - top) > 400 ? Math.max(0, (at - 3) * ROW) : top, active: at });
}

function head(group, run) {
  const name = group.runs[run].name;
  return h("div", { class: "row head", "aria-hidden": "true" },
    h("span", {}, "item"), h("span", {}, group.kind), h("span", {}, "gold"), h("span", {}, name),
    h("span", { class: "number" }, "score"),
    h("span", {}, group.runs.length > 1 ? "runs" : ""));
}

/** What stands for an answer without a label: items of sessions have no label of their own. */
function said(own, gold) {
  if (own.outcome !== "ok") return own.outcome;
  if (own.tally) return `${own.tally[0]} of ${own.tally[1]} right`;
  return gold === null || gold === undefined ? "answered" : "unusable";
}

function cells(line, group, run) {
  const own = line.runs[run];
  const verdict = own ? verdictOf(own.right) : "not asked";
  const tags = [line.language, line.key[1], line.key[2] ? `trial ${line.key[2]}` : ""].filter(Boolean).join(" · ");
  return [
    h("span", { class: "item" },
      h("span", { class: "text", lang: line.language }, h("bdi", {}, line.text || line.key[0], line.noted ? " ✎" : "")),
      h("span", { class: "quiet id" }, line.text ? `${line.key[0]}  ${tags}` : tags)),
    h("span", { class: "scenario" }, line.kind.replace("_", "-")),
    h("span", { class: "gold" }, short(line.gold)),
    h("span", { class: `said ${verdict}` }, sign(verdict), " ",
      own ? short(own.predicted) ?? said(own, line.gold) : ""),
    h("span", { class: "number score" }, own?.score === null || own === null ? "" : own.score.toFixed(3)),
    h("span", { class: "strip" }, line.runs.length > 1
      ? line.runs.map((r, i) => {
        const v = r ? verdictOf(r.right) : "not asked";
        return h("span", { class: `sign ${v.replace(" ", "-")}`, title: `${group.runs[i].name}: ${r?.predicted ?? "–"} (${v})` },
          { right: "✓", wrong: "✗", undecided: "·", "not asked": " " }[v]);
      })
      : null),
  ];
}

function short(label) {
  if (label === null || label === undefined) return label;
  return label.split("_").length > 2 ? label.split("_").slice(1).join(" ") : label;
}
