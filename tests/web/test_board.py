from pathlib import Path

import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.echo import EchoSource
from floorbench.report.stored import read_run
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.echo import EchoTask
from floorbench.web import board
from floorbench.web.index import Group
from floorbench.web.query import masks, read_query, select
from support import echo_tiny
from support.viewing import DuoSource, DuoTask, duo_reader, duo_runs, system, write_run


@pytest.fixture
def group(tmp_path: Path) -> Group:
    paths = duo_runs(tmp_path)
    task, source = DuoTask(), DuoSource()
    score(open_predictions(paths[0], task=task, source=source), draws=500)
    read = duo_reader()
    return Group([read(p) for p in paths])


def test_cells_of_tables_name_what_they_are_of(group: Group) -> None:
    tables = board.group_tables(group)
    found = [row["cells"]["value"]["run"] for t in tables for row in t["rows"]]
    assert found == [0, 0, 1, 1]
    cell = tables[0]["rows"][0]["cells"]["value"]
    assert cell["about"] == {"metric": "accuracy", "condition": "h0"}
    assert cell["number"]
    assert len(board.group_tables(group, every=True)[0]["rows"]) == 4


def test_a_matrix_counts_what_its_cells_lead_to(group: Group) -> None:
    made = board.matrix(group, run=1, layer="label", tags={"condition": "h0"})
    assert made["predicted"] == ["no", "yes", "no usable answer"]
    for i, gold in enumerate(made["gold"]):
        for j, predicted in enumerate(made["predicted"]):
            asked = {"run": "1", "gold": gold, "predicted": predicted, "tag.condition": "h0"}
            query = read_query(asked, group)
            assert len(select(group, query, masks(group, query, {}))) == made["counts"][i][j]
    assert sum(map(sum, made["counts"])) == 12


def test_contingency_adds_up_and_leads_to_its_items(group: Group) -> None:
    parts = board.contingency(group, first=0, second=1, layer="label")
    assert [p["tags"] for p in parts][:2] == [
        {"language": "zh", "condition": "h0"},
        {"language": "zh", "condition": "h1"},
    ]
    kinds = ("both", "first-only", "second-only", "neither")
    assert sum(p[k] for p in parts for k in kinds) == 24
    for part in parts:
        for kind in (*kinds, "differ"):
            tags = {f"tag.{k}": v for k, v in part["tags"].items()}
            query = read_query({"against": "1", "how": kind, **tags}, group)
            assert len(select(group, query, masks(group, query, {}))) == part[kind]


def test_the_paired_test_is_the_comparisons(group: Group) -> None:
    table = board.paired(group, first=0, second=1, draws=50)
    assert table["title"] == "A = one  against  B = two"
    row = table["rows"][0]
    assert row["cells"]["a"]["shown"] == "75.0"
    assert row["cells"]["b"]["shown"] == "58.3"


def test_provenance_tells_status_and_remarks(group: Group) -> None:
    first, second = board.provenance(group)
    assert (first["intervals"], second["intervals"]) == (True, False)
    assert first["status"] == "complete"
    assert first["coverage"]["expected"] == 24


def test_intervals_are_those_of_the_stored_estimates(tmp_path: Path) -> None:
    path = duo_runs(tmp_path, 60)[0]
    score(open_predictions(path, task=DuoTask(), source=DuoSource(60)), draws=200)
    made = board.group_tables(Group([duo_reader(60)(path)]))
    cell = made[0]["rows"][0]["cells"]["value"]
    low, high = (float(x) for x in cell["interval"].split("–"))
    assert low < float(cell["shown"]) < high


def test_cells_of_baselines_lead_nowhere(tmp_path: Path) -> None:
    source = EchoSource(echo_tiny.build(tmp_path / "data"))
    path = write_run(
        tmp_path / "runs",
        task=EchoTask(),
        source=source,
        spec=system("keeper", labels=("keep", "yield"), score=None, threshold=None),
        answer=lambda *_: Decision(label="keep"),
    )
    group = Group([read_run(path, task=EchoTask(), source=source)])
    rows = [row for table in board.group_tables(group) for row in table["rows"]]
    own = [c for row in rows if row["name"].startswith("keeper") for c in row["cells"].values()]
    assert {c["run"] for c in own if c["about"]} == {0}
    for cell in (c for row in rows for c in row["cells"].values() if c["run"] is not None):
        assert "baseline" not in cell["about"]
