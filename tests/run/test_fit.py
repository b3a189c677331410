import sys
from pathlib import Path

import numpy as np
import pytest

from floorbench import codec
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.run.fit import FitRules, fit_frame_probe
from floorbench.systems.frames import PersistenceFrames, SilenceFrames
from floorbench.systems.frames_probe import MODELS, FrameProbe, read_artefact
from floorbench.tasks.dualturn import DualTurnTask
from support import scoring
from support import two_channel_tiny as tiny

RULES = FitRules(min_gap=0, words=12, step=2, strength=1.0, eot_strength=1.0)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"))
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


@pytest.fixture(scope="module")
def artefact(source: SwitchboardSource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probe") / "probe.json"
    path.write_text(codec.encode_pretty(fit_frame_probe(source, split="train", rules=RULES)))
    return path


def test_what_is_written_is_read_back(source, artefact: Path) -> None:
    found = read_artefact(artefact)
    assert set(found.models) == set(MODELS)
    assert found.trained_on["sessions"] == 4
    assert found.trained_on["data"] == source.digest()
    assert found.digest() == fit_frame_probe(source, split="train", rules=RULES).digest()


def test_only_the_named_split_is_learnt_from(source, artefact: Path, tmp_path: Path) -> None:
    folder = tiny.build(tmp_path)
    for name in tiny.SPLITS["test"]:
        for side in "AB":
            tiny.write_side(folder / f"{name}{side}-ms98-a-word.text", f"{name}{side}", [], 60.0)
    changed = SwitchboardSource(folder, splits=str(folder / "splits.json"))
    again = fit_frame_probe(changed, split="train", rules=RULES)
    assert again.models == read_artefact(artefact).models


def test_the_probe_hears_the_word_that_ends_a_turn(source, artefact: Path) -> None:
    # In these calls the last word of a turn is always the same one.
    values = {}
    for system in (FrameProbe(artefact=str(artefact)), PersistenceFrames(), SilenceFrames()):
        _, cells = scoring.score(
            DualTurnTask(min_gap=0), source.samples(), system.spec,
            lambda s, c, system=system: system.decide(s.observation),
        )  # fmt: skip
        where = {"events": "turn ends", "at": "+0 ms"}
        values[system.spec.name] = scoring.value(cells, "balanced_accuracy", **where).value
    assert values["frame-probe"] > 0.9
    assert max(v for k, v in values.items() if k != "frame-probe") < 0.7


def test_a_split_without_sessions_is_refused(tmp_path: Path, source) -> None:
    folder = tiny.build(tmp_path, tiny.CALLS[:2])
    with pytest.raises(DataError, match=r"FB536 .*nothing is split"):
        fit_frame_probe(SwitchboardSource(folder, splits="none"), split="train", rules=RULES)


def test_a_signal_that_never_occurs_is_refused(tmp_path: Path) -> None:
    folder = tmp_path
    rows = [(1.0 + 4 * k, 2.5 + 4 * k, "so") for k in range(10)]
    for side, spoken in (("A", rows), ("B", [])):
        tiny.write_side(folder / f"sw9001{side}-ms98-a-word.text", f"sw9001{side}", spoken, 60.0)
    (folder / "s.json").write_text('{"train": ["sw9001"]}')
    source = SwitchboardSource(folder, splits=str(folder / "s.json"))
    with pytest.raises(DataError, match=r"FB536 .*'eot' never"):
        fit_frame_probe(source, split="train", rules=RULES)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step": 0}, {"step": 0.5}, {"strength": 0.0}, {"strength": float("nan")},
        {"eot_strength": "1"}, {"words": -1}, {"words": "x"}, {"min_gap": -1}, {"min_gap": True},
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError, match=r"FB103"):
        FitRules(**{"min_gap": 0, **wrong})
    assert np.isfinite(FitRules(min_gap=0).strength)


def test_rules_have_no_default_for_the_gap() -> None:
    with pytest.raises(TypeError, match="min_gap"):
        FitRules()  # type: ignore[call-arg]


def test_a_missing_library_is_named_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SwitchboardSource(tiny.build(tmp_path, ("sw9001",)), splits="none")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(EnvironmentProblem, match=r"FB401 .*'sklearn'"):
        fit_frame_probe(source, split="train", rules=FitRules(min_gap=0))
