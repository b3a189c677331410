import json
from pathlib import Path

import numpy as np
import pytest

from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.measured import Tokens, measure_build, on_gpu, sees_all
from floorbench.build.pipeline.record import StageReport
from floorbench.errors import DataError
from support.build_toy import RATE, ToyRecipe


def built(tmp: Path, **settings: object) -> Path:
    out = build(ToyRecipe(), out=tmp / "a", cache=tmp / "c", settings={"items": 8, **settings})
    return out.path


def test_a_dataset_is_measured(tmp_path: Path) -> None:
    path = built(tmp_path)
    got = measure_build(path, cache=tmp_path / "c")
    assert got.record.finished == len(got.sounds)
    np.testing.assert_allclose(got.sounds, 5 * (RATE // 4) / RATE)
    assert got.bytes == sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
    held = [p for n in ("sounds", "results") for p in (tmp_path / "c" / n).rglob("*.*")]
    assert got.stored == sum(p.stat().st_size for p in held if p.is_file())
    calls = got.record.finished
    assert got.tokens == {"text": {"toy": Tokens(calls=calls, read=0, written=0)}}
    assert measure_build(path).stored is None


def test_a_build_without_items_is_refused(tmp_path: Path) -> None:
    path = built(tmp_path)
    record = (path / "build.json").read_text()
    (path / "build.json").write_text(record.replace('"finished": 8', '"finished": 0'))
    with pytest.raises(DataError, match="FB563"):
        measure_build(path)
    with pytest.raises(DataError, match="FB402"):
        measure_build(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "value"),
    [("workers", 10**18), ("took", -1.0), ("seeds", 10**400), ("schema", 99), ("stages", []),
     ("entered", -1), ("calls", 10**30), ("cpu", 1e308), ("spread", -1.0)],
)  # fmt: skip
def test_numbers_that_no_build_has_are_refused(tmp_path: Path, name: str, value: object) -> None:
    path = built(tmp_path)
    plain = json.loads((path / "build.json").read_text())
    (plain if name in plain else plain["stages"][1])[name] = value
    (path / "build.json").write_text(json.dumps(plain))
    with pytest.raises(DataError, match="FB563"):
        measure_build(path)


def test_a_folder_that_is_no_cache_has_no_size(tmp_path: Path) -> None:
    path = built(tmp_path)
    for cache in (tmp_path / "nowhere", path):
        with pytest.raises(DataError, match=r"FB563 .*no cache folder"):
            measure_build(path, cache=cache)


def stage(**more: object) -> StageReport:
    given = {"stage": "s", "version": 1, "deterministic": True, "settings": {}, "entered": 4}
    return StageReport(**{**given, **more})


def test_what_a_stage_is_shows_in_its_record() -> None:
    assert sees_all(stage(calls=1))
    assert not sees_all(stage(calls=6))
    assert on_gpu(stage(settings={"tts": [{"name": "x"}, {"device": "cuda:1"}]}))
    assert not on_gpu(stage(settings={"device": "cpu", "tts": {"name": "cuda"}}))
