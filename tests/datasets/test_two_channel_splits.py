import json
from pathlib import Path

import pytest

from floorbench.datasets.two_channel_splits import FOLDER, SPLITS, Splits
from floorbench.errors import DataError


def written(tmp_path: Path, value: object) -> str:
    path = tmp_path / "splits.json"
    path.write_text(json.dumps(value))
    return str(path)


def test_aliases_and_notes(tmp_path: Path) -> None:
    path = written(tmp_path, {"note": "ours", "train": ["a"], "dev": ["b"], "test": ["c"]})
    found = Splits.choose(path, ["a", "b", "c"], None)
    assert [found.of(i) for i in "abc"] == list(SPLITS)
    assert found.counts("abc") == {"train": 1, "validation": 1, "test": 1}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"train": ["a", "a"]}, "stands twice"),
        ({"train": ["a"], "test": ["a"]}, "stands twice"),
        ({"practice": ["a"]}, "no split"),
        ({"train": "a", "test": [1]}, "no split"),
        (["a"], "object"),
        ({"train": ["a"]}, "does not name 1 session: b"),
        ({"train": ["a", "b", "c"]}, "without being there"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path: Path, value: object, says: str) -> None:
    with pytest.raises(DataError, match=rf"FB254 .*{says}"):
        Splits.choose(written(tmp_path, value), ["a", "b"], None)


def test_nothing_is_split_on_request_or_for_unknown_sessions() -> None:
    assert Splits.choose("none", ["sw2001"], None).of("sw2001") is None
    assert Splits.choose(None, ["sw2001", "mine"], None).of("sw2001") is None


def test_the_datas_own_list_goes_before_floorbenchs() -> None:
    own = Splits(by_id={"sw2001": "train"})
    assert Splits.choose(None, ["sw2001"], own) is own
    assert Splits.choose(None, ["sw2001"], None).of("sw2001") == "test"


def test_the_committed_list_of_calls() -> None:
    found = Splits.read(FOLDER / "swb_ms98.json")
    assert found.counts(found.by_id) == {"train": 17, "validation": 10, "test": 14}


def test_the_committed_list_is_that_of_the_real_calls(real_data: Path) -> None:
    ids = {p.name[:6] for p in (real_data / "swb_ms98").glob("*.text")}
    assert ids == set(Splits.read(FOLDER / "swb_ms98.json").by_id)
