"""Detectors that read: their exact front ends, on exported graphs whose answers can be counted."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import SystemProblem, UsageError
from floorbench.systems.text_onnx import FIRERED_LENGTH, FireRed, Namo, open_tokenizer, softmax
from support import onnx_tiny

GO, STOP, PLEASE, WELL, GOOD, MA, ME = range(5, 12)


def seen(text, *turns, **more):
    filled = {"language": "en", "state": "SystemIdle", "text": text, "turns": turns}
    return Observation(**{**filled, **more})


def probability(ids):
    """By hand: the end class counts even ids, the other class odd ones."""
    even = sum(i % 2 == 0 for i in ids)
    return math.exp(even) / (math.exp(even) + math.exp(len(ids) - even))


@pytest.fixture
def firered(tmp_path):
    made = FireRed(model=str(onnx_tiny.firered(tmp_path)))
    made.load()
    return made


@pytest.fixture
def namo(tmp_path):
    made = Namo(model=str(onnx_tiny.namo(tmp_path)))
    made.load()
    return made


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("好吗我", [GOOD, MA, ME]),
        ("好，吗。我？！,.?!", [GOOD, MA, ME]),
        ("go stop", [1]),
        ("stop", [STOP]),
        ("stop.", [STOP]),
        ("...", []),
    ],
)
def test_firered_strips_marks_and_spaces_and_adds_no_special_tokens(firered, text, ids):
    assert firered._ids(text) == ids
    decision = firered.decide(seen(text))
    if not ids:
        assert (decision.label, decision.scores) == ("incomplete", {})
        return
    assert decision.scores["complete"] == pytest.approx(probability(ids), abs=1e-6)
    assert decision.label == ("complete" if probability(ids) > 0.5 else "incomplete")


def test_firered_keeps_the_last_128_tokens_and_pads_to_128(firered):
    ids = firered._ids("吗" * 100 + "我" * 100)
    assert ids == [MA] * 28 + [ME] * 100
    row, mask = firered._row([GOOD, MA])
    assert (len(row), sum(mask)) == (FIRERED_LENGTH, 2)
    assert row == [GOOD, MA] + [0] * 126
    assert mask == [1, 1] + [0] * 126


def test_firered_joins_the_user_turns_since_the_system_spoke(tmp_path):
    turns = (
        Turn(role=Role.USER, text="吗"),
        Turn(role=Role.SYSTEM, text="好"),
        Turn(role=Role.USER, text="我"),
        Turn(role=Role.USER, text=None),
    )
    folder = str(onnx_tiny.firered(tmp_path))
    assert FireRed(model=folder)._text(seen("好", *turns)) == "我好"
    assert FireRed(model=folder, input="turn")._text(seen("好", *turns)) == "好"
    specs = [FireRed(input=name).spec.front_end.text for name in ("turn", "user-turns")]
    assert specs[0] != specs[1]


def test_namo_reads_the_turn_with_special_tokens(namo):
    assert namo._ids("go stop.") == [2, GO, STOP, 1, 3]
    decision = namo.decide(seen("stop please"))
    ids = [2, STOP, PLEASE, 3]
    assert decision.scores["complete"] == pytest.approx(probability(ids), abs=1e-6)


def test_namo_truncates_on_the_right(tmp_path):
    made = Namo(model=str(onnx_tiny.namo(tmp_path)), variant="distilbert")
    made.load()
    ids = made._ids("go " * 600)
    assert (len(ids), ids[0], ids[-1]) == (512, 2, 3)


def test_an_export_that_takes_token_types_gives_the_same(tmp_path, namo):
    typed = Namo(model=str(onnx_tiny.namo(tmp_path / "typed", types=True)))
    typed.load()
    assert typed.decide(seen("go well")) == namo.decide(seen("go well"))


def test_what_they_cannot_do(firered, namo):
    for system in (firered, namo):
        assert system.decide(seen(None)).outcome is Outcome.UNSUPPORTED
        speaking = seen("go", state="SystemSpeaking")
        assert system.decide(speaking).outcome is Outcome.UNSUPPORTED
        assert system.decide(seen("")).label == "incomplete"
    assert FireRed(variant="chinese").spec.languages == ("zh",)
    assert Namo(languages=["de"]).spec.languages == ("de",)


def test_the_threshold_is_strict_and_in_the_spec(tmp_path):
    made = FireRed(model=str(onnx_tiny.firered(tmp_path)), threshold=0.08)
    assert made.spec.threshold == 0.08
    made.load()
    assert made.decide(seen("吗")).label == "complete"
    assert len(made.spec.weights) == 2


def test_a_folder_that_lacks_something_is_one_clear_message(tmp_path):
    with pytest.raises(UsageError, match="FB554"):
        Namo().load()
    with pytest.raises(SystemProblem, match=r"FB554 .*has no model_quant\.onnx"):
        Namo(model=str(tmp_path)).load()
    onnx_tiny.classifier(tmp_path / "model_quant.onnx")
    with pytest.raises(SystemProblem, match=r"neither tokenizer\.json nor vocab\.txt"):
        Namo(model=str(tmp_path)).load()
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SystemProblem, match="the tokenizer cannot be read"):
        Namo(model=str(tmp_path)).load()


def test_another_model_is_not_taken_for_it(tmp_path):
    folder = onnx_tiny.namo(tmp_path)
    onnx_tiny.classifier(folder / "model_quant.onnx", classes=1)
    made = Namo(model=str(folder))
    made.load()
    with pytest.raises(SystemProblem, match="FB514"):
        made.decide(seen("go"))
    (folder / "model_quant.onnx").write_bytes(b"no model")
    with pytest.raises(SystemProblem, match="FB514"):
        Namo(model=str(folder)).load()


def test_a_vocabulary_keeps_case_when_its_folder_says_so(tmp_path):
    onnx_tiny.wordpiece(tmp_path)
    assert open_tokenizer(tmp_path).encode("GO", special=False) == [1]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    assert open_tokenizer(tmp_path).encode("GO", special=False) == [GO]


def test_the_last_class_is_the_end():
    assert softmax(np.array([0.0, math.log(3.0)])) == pytest.approx(0.75)
    for wrong in ([1.0], [0.0, math.nan]):
        with pytest.raises(SystemProblem, match="FB514"):
            softmax(np.array(wrong))
