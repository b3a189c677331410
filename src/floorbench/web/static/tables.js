// The numbers: runs, the task's tables, confusion matrices. Every number leads to its items.
import { address, ask, choice, counted, h, located } from "./kit.js";

export async function showTables({ group, parameters }) {
  const every = parameters.all === "1";
  const tables = await ask("/api/tables", { group: group.position, all: every ? 1 : null });
  const matrices = h("section", { class: "matrices", "aria-label": "confusion matrices" });
  await fillMatrices(matrices, group, parameters);
  return {
    title: group.task,
    nodes: [
      h("div", { class: "pad column" },
        h("h1", {}, `${group.task} on ${group.data}`),
        group.notices.map((n) => h("p", { class: "notice" }, n)),
        runsTable(group),
        h("div", { class: "bar" },
          h("h2", {}, "Scores"),
          h("a", { href: address("tables", { ...parameters, all: every ? null : 1 }) },
            every ? "the printed tables" : "all cells")),
        h("p", { class: "quiet" }, "Choose a number to see and hear the items behind it."),
        tables.map((t) => scoreTable(t, group)),
        matrices),
    ],
  };
}

function runsTable(group) {
  const head = ["run", "system", "status", "answered", "remarks"];
  return h("details", { open: group.runs.some((r) => r.remarks.length > 0) || null },
    h("summary", {}, `${group.runs.length} run${group.runs.length > 1 ? "s" : ""}`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "runs" },
      h("table", { class: "plain" },
        h("thead", {}, h("tr", {}, head.map((t) => h("th", { scope: "col" }, t)))),
        h("tbody", {}, group.runs.map((run) => h("tr", {},
          h("td", {}, h("code", {}, run.run_id)),
          h("th", { scope: "row" }, run.name, run.reference ? " [reference]" : ""),
          h("td", {}, run.status),
          h("td", { class: "number" }, `${run.coverage.ok} of ${run.coverage.expected}`),
          h("td", {}, [...run.remarks, run.intervals ? null : "no intervals: not scored since it was written"]
            .filter(Boolean).map((r) => h("div", { class: "remark" }, r)))))))));
}

function scoreTable(table, group) {
  const body = table.rows.map((row) => h("tr", { class: row.published ? "published" : null },
    h("th", { scope: "row" }, row.name, row.published ? " †" : "",
      row.note ? h("div", { class: "quiet" }, row.note) : null),
    table.columns.map(({ key }) => h("td", { class: "number" }, cell(row.cells[key], group)))));
  return h("figure", { class: "table" },
    h("figcaption", {}, table.title),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
      h("table", {},
        h("thead", {}, h("tr", {},
          [table.head, ...table.columns.map((c) => c.name)].map((t) => h("th", { scope: "col" }, t)))),
        h("tbody", {}, body))),
    h("details", {}, h("summary", {}, "notes"),
      table.notes.map((n) => h("p", { class: "quiet note" }, n)),
      table.rows.some((r) => r.published)
        ? h("p", { class: "quiet note" }, "† published, on the paper's own data: not comparable with rows measured on other data")
        : null));
}

function cell(found, group) {
  if (!found) return "";
  const shown = [h(found.best ? "strong" : "span", {}, found.shown),
    found.interval ? h("span", { class: "interval" }, found.interval) : null];
  if (found.about && found.number && found.run !== null) {
    const title = [found.units !== null ? counted(found.units, "unit") : null, found.reason].filter(Boolean).join("; ");
    return h("a", {
      title,
      href: address("items", { group: group.position || null, run: found.run, cell: JSON.stringify(found.about) }),
    }, shown);
  }
  return found.reason ? h("span", { title: found.reason, class: "quiet" }, shown) : shown;
}

async function fillMatrices(place, group, parameters) {
  const run = Number(parameters.run ?? 0);
  const layers = group.runs[run]?.layers ?? [];
  const layer = layers.includes(parameters.layer) ? parameters.layer : layers[0];
  if (!layer) return;
  const tags = {};
  for (const name of ["language", "condition"]) {
    const values = group.tags[name] ?? [];
    if (values.length) tags[name] = values.includes(parameters[name]) ? parameters[name] : values[0];
  }
  const again = (change) => { location.hash = address("tables", { ...located().parameters, ...change }); };
  const asked = Object.fromEntries(Object.entries(tags).map(([k, v]) => [`tag.${k}`, v]));
  const found = await ask("/api/matrix", { group: group.position, run, layer, ...asked });
  place.replaceChildren(
    h("h2", {}, "Confusion"),
    h("div", { class: "bar" },
      choice("run", group.runs.map((r) => [r.run, r.name]), run, (v) => again({ run: v })),
      layers.length > 1 ? choice("labels", layers.map((l) => [l, l]), layer, (v) => again({ layer: v })) : null,
      Object.entries(tags).map(([name, value]) => choice(name, group.tags[name].map((v) => [v, v || "–"]), value,
        (v) => again({ [name]: v })))),
    found.counts.length ? matrix(found, group) : h("p", { class: "quiet" }, "No item here."));
}

function matrix(found, group) {
  const name = shortener([...found.gold, ...found.predicted]);
  const rows = found.counts.map((counts, i) => {
    const total = counts.reduce((a, b) => a + b, 0);
    return h("tr", {},
      h("th", { scope: "row", title: found.gold[i] }, name(found.gold[i])),
      counts.map((count, j) => {
        const right = found.gold[i] === found.predicted[j];
        const td = h("td", { class: `heat ${right ? "right" : "wrong"}` }, count === 0
          ? h("span", { class: "zero" }, "0")
          : h("a", {
            "aria-label": `${counted(count, "item")} of gold ${found.gold[i]} answered ${found.predicted[j]}`,
            href: address("items", {
              group: group.position || null, run: found.run, layer: found.layer, gold: found.gold[i],
              predicted: found.predicted[j],
              ...Object.fromEntries(Object.entries(found.tags).map(([k, v]) => [`tag.${k}`, v])),
            }),
          }, String(count)));
        td.style.setProperty("--share", (count / total).toFixed(3));
        return td;
      }),
      h("td", { class: "number quiet" }, String(total)));
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "confusion matrix" },
    h("table", { class: `matrix${found.predicted.length > 6 ? " many" : ""}` },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "gold ↓  answered →"),
        found.predicted.map((p) => h("th", { scope: "col", title: p }, name(p))),
        h("th", { scope: "col" }, "n"))),
      h("tbody", {}, rows)));
}

/** Labels such as SystemIdle_Dismiss_Incomplete are shown without what all of them share. */
function shortener(labels) {
  const long = labels.some((l) => l.split("_").length > 2);
  return (label) => (long && label.includes("_") ? label.split("_").slice(1).join(" · ") : label);
}
