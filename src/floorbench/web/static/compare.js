// Two runs side by side: who is right where, the paired test, and the items to listen to.
import { address, ask, choice, counted, h, located, refusal, typing } from "./kit.js";
import { Player, entryOf } from "./player.js";

const KINDS = [["first-only", "only A right"], ["second-only", "only B right"], ["both", "both right"], ["neither", "both wrong"]];
const PLAYLIST = 100;

export async function showCompare({ group, parameters, current }) {
  if (group.runs.length < 2) return { title: "Compare", nodes: [h("p", { class: "pad" }, "Give two runs to compare.")] };
  const first = Number(parameters.first ?? 0);
  const second = Number(parameters.second ?? (first === 0 ? 1 : 0));
  const layer = parameters.layer ?? group.layers[0];
  const again = (change) => { location.hash = address("compare", { ...located().parameters, ...change }); };
  const options = group.runs.map((r) => [r.run, r.name]);
  const asked = { group: group.position, first, second, layer };
  const parts = await ask("/api/compare", asked);
  const test = h("section", {});
  const list = h("section", { "aria-label": "playlist" });
  const played = playlist(list, group, { first, second, layer, how: parameters.how ?? "first-only", tags: tagsOf(parameters) }, current);
  return {
    title: "Compare",
    leave: () => played.leave(),
    ready: () => { if (group.layers.length) played.ready(); if (group.items) pairedTest(test, asked, current); },
    nodes: [h("div", { class: "pad column" },
      h("h1", {}, "Two runs side by side"),
      h("div", { class: "bar" },
        choice("A", options, first, (v) => again({ first: v })),
        choice("B", options, second, (v) => again({ second: v })),
        group.layers.length > 1 ? choice("labels", group.layers.map((l) => [l, l]), layer, (v) => again({ layer: v })) : null),
      first === second ? h("p", { class: "notice" }, "A and B are the same run.") : null,
      counts(parts, group, { first, second, layer }),
      group.layers.length ? list : null, test)],
  };
}

function tagsOf(parameters) {
  return Object.fromEntries(Object.entries(parameters).filter(([k]) => k.startsWith("tag.")));
}

function counts(parts, group, { first, second, layer }) {
  if (!parts.length) return h("p", { class: "notice" }, group.layers.length
    ? "No item was judged for both runs." : "These items are recordings of many events and are not judged as wholes: see the paired test.");
  const names = Object.keys(parts[0].tags);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "who is right where" },
    h("table", {},
      h("thead", {}, h("tr", {}, [...names, ...KINDS.map(([, t]) => t), "answers differ"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, parts.map((p) => {
        const tags = Object.fromEntries(names.map((n) => [`tag.${n}`, p.tags[n]]));
        const to = (how) => address("items", { group: group.position || null, run: first, against: second, layer, how, ...tags });
        return h("tr", {}, names.map((n) => h("th", { scope: "row" }, p.tags[n])),
          [...KINDS.map(([k]) => k), "differ"].map((k) => h("td", { class: "number" },
            p[k] ? h("a", { href: to(k) }, String(p[k])) : "0",
            ["first-only", "second-only"].includes(k) && p[k]
              ? [" ", h("a", { href: address("compare", { first, second, layer, how: k, ...tags }), class: "hear" }, "hear")]
              : null)));
      }))));
}

async function pairedTest(place, asked, current) {
  place.replaceChildren(h("h2", {}, "Paired test"), h("p", { class: "quiet" }, "Resampling whole clusters of both runs…"));
  try {
    const table = await ask("/api/paired", asked);
    if (!current()) return;
    place.replaceChildren(h("h2", {}, "Paired test"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "paired test" },
        h("table", {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, table.head), table.columns.map((c) => h("th", {
            scope: "col", class: table.rows.some((r) => r.cells[c.key]?.number) ? null : "left",
          }, c.name)))),
          h("tbody", {}, table.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.name),
            table.columns.map(({ key }) => {
              const c = row.cells[key];
              return h("td", { class: c?.number ? "number" : null }, c ? [c.shown,
                c.interval ? h("span", { class: "interval" }, c.interval) : null] : "");
            })))))),
      h("details", {}, h("summary", {}, "notes"), table.notes.map((n) => h("p", { class: "quiet note" }, n))));
  } catch (error) {
    if (current()) place.replaceChildren(h("h2", {}, "Paired test"), refusal(error));
  }
}

function playlist(place, group, { first, second, layer, how, tags }, current) {
  const title = KINDS.find(([k]) => k === how)?.[1] ?? how;
  let lines = [];
  let at = -1;
  let going = false;
  const problem = h("div", {});
  const player = new Player(() => draw(), (text) => problem.replaceChildren(refusal(new Error(text))));
  const list = h("ol", { class: "playlist" });
  const all = h("button", { type: "button", onclick: () => (going ? halt() : begin(at < 0 ? 0 : at)) }, "Play all");
  const now = h("span", { class: "quiet", role: "status" });

  player.sound.addEventListener("ended", () => {
    if (!going) return;
    if (at + 1 < lines.length) setTimeout(() => going && begin(at + 1), 600);
    else halt();
  });

  function halt() { going = false; player.sound.pause(); draw(); }

  async function begin(i) {
    going = true;
    at = i;
    const [sample, condition, trial] = lines[i].key;
    const key = { sample, condition, trial };
    player.play([entryOf(group.position, key, { part: "target", seconds: 0 })]);
    draw();
    list.children[i]?.scrollIntoView({ block: "nearest" });
  }

  function draw() {
    all.textContent = going && !player.sound.paused ? "Pause" : "Play all";
    now.textContent = at >= 0 ? `${at + 1} of ${lines.length}` : counted(lines.length, "item");
    [...list.children].forEach((li, i) => li.classList.toggle("now", i === at));
  }

  const onkey = (event) => {
    if (typing(event)) return;
    if (event.key === " " && !/^(A|BUTTON|SUMMARY)$/.test(event.target.tagName)) { event.preventDefault(); all.click(); }
    if (event.key === "j" && at + 1 < lines.length) begin(at + 1);
    if (event.key === "k" && at > 0) begin(at - 1);
  };
  return {
    leave: () => { document.removeEventListener("keydown", onkey); going = false; player.stop(); },
    ready: async () => {
      document.addEventListener("keydown", onkey);
      const query = { run: first, against: second, layer, how, ...tags };
      const found = await ask("/api/items", { group: group.position, ...query, limit: PLAYLIST });
      if (!current()) return;
      lines = found.rows;
      list.replaceChildren(...lines.map((line, i) => h("li", {},
        h("button", { type: "button", class: "play", "aria-label": `play item ${i + 1}`, onclick: () => begin(i) },
          h("span", { "aria-hidden": "true" }, "▶")),
        h("a", {
          href: address("item", {
            ...query, group: group.position || null, at: i, sample: line.key[0], condition: line.key[1], trial: line.key[2] || null,
          }),
        }, h("span", { lang: line.language }, line.text || line.key[0])),
        h("span", { class: "quiet" }, `${line.gold ?? ""} · A ${line.runs[first]?.predicted ?? "–"} · B ${line.runs[second]?.predicted ?? "–"}`))));
      const scope = Object.entries(tags).map(([k, v]) => `${k.slice(4)} ${v}`).join(", ");
      place.replaceChildren(
        h("h2", {}, `Playlist: ${title}`, scope ? h("span", { class: "quiet" }, ` (${scope})`) : null),
        problem,
        lines.length ? h("div", { class: "bar" }, all, now,
          found.total > lines.length ? h("span", { class: "quiet" }, `the first of ${found.total}`) : null)
          : h("p", { class: "quiet" }, "No such item."),
        list);
      draw();
    },
  };
}
