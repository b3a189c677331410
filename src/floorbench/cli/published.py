"""``floorbench published show|check``."""

from __future__ import annotations

from floorbench.cli import console
from floorbench.cli.options import Form
from floorbench.report import published, published_check


def show(table: str | None = None, /, *, form: Form = "text", json: bool = False) -> int:
    """Print a table of a paper as it was printed, in its own rows and columns.

    Parameters
    ----------
    table
        Id of the table; without it the ids are listed.
    form
        Form of a table of results.
    json
        Print JSON, one line per value.
    """
    if table is None:
        if json:
            console.data_json(published.TABLES)
        else:
            rows = [(t.id, t.title, t.source) for t in published.TABLES]
            console.data(console.columns(rows, ("id", "shows", "source")))
        return 0
    about = published.table(table)
    rows_ = list(published.rows(table))
    if json:
        console.data_json({"table": about, "rows": rows_})
        return 0
    from floorbench.report.published_layout import laid_out

    made = laid_out(table)
    for wide in made:
        console.table(wide, form)
    if made:
        return 0
    head = tuple(name.replace("_", " ") for name in rows_[0])
    console.say(f"{about.title} ({about.source})")
    console.data(console.columns([tuple(r.values()) for r in rows_], head))
    return 0


def check(*, json: bool = False) -> int:
    """Recompute the printed tables and name what does not fit.

    Exits 0: the findings concern the papers, not this program.

    Parameters
    ----------
    json
        Print JSON.
    """
    findings = published_check.check()
    if json:
        console.data_json(findings)
        return 0
    for kind, meaning in (
        ("misprint", "refuted by recomputation or by the identity of the two stages"),
        ("unexplained", "off the identity by more than 0.2 points, cause unknown"),
        ("slip", "slips of prose and formulas"),
    ):
        chosen = [f for f in findings if f.kind == kind]
        console.data(f"{kind} ({len(chosen)}): {meaning}")
        for f in chosen:
            printed = " / ".join(f"{v:.2f}" for v in f.printed)
            should = " / ".join(f"{v:.2f}" for v in f.recomputed)
            numbers = f" printed {printed}" if printed else ""
            numbers += f", recomputed {should}" if should else ""
            console.data(f"  {f.id}{numbers}\n      {f.says}")
        console.data("")
    return 0
