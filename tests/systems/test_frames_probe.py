import json
from pathlib import Path

import pytest

from floorbench import codec
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError
from floorbench.events.traces import trace_values
from floorbench.systems import build_system
from floorbench.systems.frames_probe import FrameProbe
from support.frame_probe import artefact
from support.frame_talk import TALK_WITH_WORDS, cut


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "probe.json"
    file.write_text(codec.encode_pretty(artefact()))
    return file


def test_a_probe_reads_words_and_activity(path: Path) -> None:
    said = build_system("frame-probe", artefact=str(path)).decide(TALK_WITH_WORDS).trace
    assert said is not None
    eot = trace_values(said)[:, said.columns.index("eot:user")]
    assert eot[28] == pytest.approx(1 / (1 + 2.718281828), rel=1e-5)
    assert eot[30] == pytest.approx(1 / (1 + 1 / 2.718281828), rel=1e-5)
    hold = trace_values(said)[:, said.columns.index("hold:user")]
    assert (eot + hold) == pytest.approx(1.0)


def test_the_future_changes_nothing(path: Path) -> None:
    system = FrameProbe(artefact=str(path))
    whole = system.decide(TALK_WITH_WORDS).trace
    part = system.decide(cut(TALK_WITH_WORDS, 2.48)).trace
    assert whole is not None
    assert part is not None
    assert trace_values(part).tolist() == trace_values(whole)[:31].tolist()


def test_the_signature_names_the_artefact(path: Path) -> None:
    assert FrameProbe(artefact=str(path)).spec.weights == {"probe": artefact().digest()}


def test_an_artefact_that_does_not_fit_is_refused(path: Path) -> None:
    plain = json.loads(path.read_text())
    path.write_text(json.dumps({**plain, "version": "0"}))
    with pytest.raises(DataError, match=r"FB535 .*version 0"):
        FrameProbe(artefact=str(path))
    path.write_text(json.dumps({**plain, "words": ["so"]}))
    with pytest.raises(DataError, match=r"FB535 .*'eot'"):
        FrameProbe(artefact=str(path))
    path.write_text("{}")
    with pytest.raises(DataError, match=r"FB201"):
        FrameProbe(artefact=str(path))
    with pytest.raises(DataError, match=r"FB402"):
        FrameProbe(artefact=str(path.with_name("none.json")))


def test_without_activity_it_says_so(path: Path) -> None:
    said = FrameProbe(artefact=str(path)).decide(Observation(language="en"))
    assert said.outcome is Outcome.UNSUPPORTED
