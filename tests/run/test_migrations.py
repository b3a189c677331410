import json
from pathlib import Path
from typing import Any

import pytest

from floorbench import codec
from floorbench.errors import DataError, Place
from floorbench.run.migrations import MIGRATIONS, SCHEMA, migrate
from floorbench.run.store import RunFolder

FIXTURES = Path(__file__).parent / "fixtures"
HERE = Place("run.json")


def renamed(record: dict[str, Any]) -> dict[str, Any]:
    record = dict(record)
    record["seed"] = record.pop("random_seed")
    return record


def doubled(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "trials": 2 * record["trials"]}


def test_steps_are_applied_in_order() -> None:
    old = {"schema": 1, "random_seed": 7, "trials": 1}
    found = migrate(old, where=HERE, target=3, steps={1: renamed, 2: doubled})
    assert found == {"schema": 3, "seed": 7, "trials": 2}
    assert old == {"schema": 1, "random_seed": 7, "trials": 1}


def test_every_schema_has_a_way_to_the_present() -> None:
    assert set(MIGRATIONS) == set(range(1, SCHEMA))


@pytest.mark.parametrize("schema", range(1, SCHEMA + 1))
def test_records_of_every_schema_are_read(schema: int, tmp_path: Path) -> None:
    text = (FIXTURES / f"run_schema{schema}.json").read_text()
    assert json.loads(text)["schema"] == schema
    (tmp_path / "run.json").write_text(text)
    record = RunFolder.open(tmp_path).record()
    assert record.schema == SCHEMA
    assert record.task.name == "toy"
    assert record.system_spec.name == "toy-system"
    assert record.dataset.locator["reader"] == "toy"
    assert record.conditions == ("h0", "h1")
    assert record.sittings[0].status == "complete"


def test_the_present_schema_is_written_as_its_fixture(tmp_path: Path) -> None:
    text = (FIXTURES / f"run_schema{SCHEMA}.json").read_text()
    (tmp_path / "run.json").write_text(text)
    assert codec.encode_pretty(RunFolder(tmp_path).record()) == text


def test_fields_that_came_later_may_be_missing(tmp_path: Path) -> None:
    plain = json.loads((FIXTURES / f"run_schema{SCHEMA}.json").read_text())
    for later in ("batch_seconds", "loading", "answering"):
        del plain["sittings"][0][later]
    (tmp_path / "run.json").write_text(json.dumps(plain))
    assert RunFolder(tmp_path).record().sittings[0].loading is None


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({}, "FB505"),
        ([], "FB505"),
        ({"schema": "1"}, "FB505"),
        ({"schema": True}, "FB505"),
        ({"schema": SCHEMA + 1}, "FB506"),
        ({"schema": 0}, "FB506"),
    ],
)
def test_unknown_schemas_are_refused(record: Any, code: str) -> None:
    with pytest.raises(DataError, match=f"{code} run.json"):
        migrate(record, where=HERE)
