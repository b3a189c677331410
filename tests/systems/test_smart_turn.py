"""Smart-Turn: its front end and gate, what it refuses, and published clips.

The probabilities of the reference clips depend on how a CPU adds 8-bit products. The stated
values come from a machine that saturates; on a machine that adds exactly, values of the same
files are given beside them. Both were seen with this code.
"""

import numpy as np
import pytest

from floorbench.audio import assets
from floorbench.audio.decode import resample
from floorbench.audio.onnx import int8_arithmetic
from floorbench.audio.ref import ArrayAudio, FileAudio
from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.errors import EnvironmentProblem, SystemProblem, UsageError
from floorbench.systems import build_system
from floorbench.systems.smart_turn import LANGUAGES, VERSIONS, SmartTurn
from floorbench.systems.whisper_mel import slaney_bank, whisper_mel
from sounds import RATE, noise, silence, utterance, voice

CLIPS = ("complete_real_1", "incomplete_real_1", "backchannel_real_1", "wait_real_1")
STATED = {
    "v3.0": (0.974, 0.354, 0.023, 0.959),
    "v3.1": (0.690, 0.481, 0.978, 0.979),
    "v3.2": (0.931, 0.038, 0.962, 0.985),
}
EXACT = {
    "v3.0": (0.971, 0.102, 0.013, 0.972),
    "v3.1": (0.878, 0.061, 0.603, 0.983),
    "v3.2": (0.136, 0.304, 0.765, 0.989),
}
# Rounding noise of 1e-6 in the features alone moves an exact-mode probability by up to this much.
JITTER = 0.16


def seen(samples, rate=RATE, **kw):
    return Observation(
        **{"language": "en", "channels": {Role.USER: ArrayAudio(samples, rate=rate)}, **kw}
    )


@pytest.fixture(scope="module", params=VERSIONS)
def bare(request):
    """Each version without its gate."""
    system = SmartTurn(version=request.param, gate="off")
    system.load()
    return system


@pytest.mark.parametrize("version", VERSIONS)
def test_published_clips(real_data, version):
    system = SmartTurn(version=version, gate="off", tail=0.0)
    system.load()
    saturating = int8_arithmetic() == "saturating"
    expected = (STATED if saturating else EXACT)[version]
    for clip, value in zip(CLIPS, expected, strict=True):
        audio = FileAudio(real_data / "easy_turn_clips" / f"{clip}.wav")
        decision = system.decide(Observation(language="zh", channels={Role.USER: audio}))
        assert decision.scores["complete"] == pytest.approx(
            value, abs=0.01 if saturating else JITTER
        ), clip
        if saturating and clip.startswith(("complete", "incomplete")):
            assert decision.label == clip.split("_")[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_exact_arithmetic_gives_the_same_on_every_machine(real_data, version):
    system = SmartTurn(version=version, gate="off", arithmetic="exact")
    for clip, value in zip(CLIPS, EXACT[version], strict=True):
        audio = FileAudio(real_data / "easy_turn_clips" / f"{clip}.wav")
        decision = system.decide(Observation(language="zh", channels={Role.USER: audio}))
        assert decision.scores["complete"] == pytest.approx(value, abs=JITTER), clip


def test_probabilities_are_probabilities_and_repeat(bare):
    for samples in (voice(0.05), voice(2.0), noise(3.0), silence(1.0), voice(11.0)):
        first = bare.decide(seen(samples))
        assert 0.0 <= first.scores["complete"] <= 1.0
        assert bare.decide(seen(samples)) == first
        assert (first.label == "complete") == (first.scores["complete"] > 0.5)
        assert first.commit == samples.size / RATE


def test_silence_sounds_complete_to_the_bare_model(bare):
    assert bare.decide(seen(silence(2.0))).scores["complete"] > 0.9


def test_only_the_last_eight_seconds_are_heard(bare):
    tail = noise(8.0)
    longer = np.concatenate([voice(3.0), tail])
    assert bare.decide(seen(longer)).scores == bare.decide(seen(tail)).scores


def test_the_model_gives_the_same_in_a_batch_but_none_is_offered(bare):
    bare.load()
    sounds = [whisper_mel(samples) for samples in (voice(1.0), noise(2.0), silence(0.5))]
    single = [bare._session.run(None, {"input_features": s[None]})[0][0] for s in sounds]
    together = bare._session.run(None, {"input_features": np.stack(sounds)})[0]
    assert together.tolist() == np.stack(single).tolist()
    assert not hasattr(bare, "decide_batch")


def test_history_and_text_change_nothing(bare):
    past = (Turn(role=Role.USER, text="yes", audio=ArrayAudio(noise(1.0), rate=RATE)),)
    plain, told = seen(voice(1.0)), seen(voice(1.0), turns=past, text="so I")
    assert bare.decide(plain) == bare.decide(told)


def test_eight_kilohertz_is_resampled_not_misread(bare):
    """A telephone copy of band-limited audio is heard as the same audio."""
    slow = resample(utterance(after=0.2), source=RATE, target=8_000)
    fast = resample(slow, source=8_000, target=RATE)
    right = bare.decide(seen(fast)).scores["complete"]
    assert bare.decide(seen(slow, rate=8_000)).scores["complete"] == right
    assert bare.decide(seen(slow, rate=8_000)).commit == pytest.approx(2.7)
    assert bare.decide(seen(slow, rate=RATE)).scores["complete"] != right


def test_a_telephone_copy_differs_only_where_it_has_nothing():
    wide = utterance(after=0.2)
    narrow = resample(resample(wide, source=RATE, target=8_000), source=8_000, target=RATE)
    difference = np.abs(whisper_mel(wide) - whisper_mel(narrow))
    below = slaney_bank().argmax(axis=1) * 40 < 3_400
    assert difference[below].mean() < 0.02
    assert difference[~below].mean() > 0.1


@pytest.mark.parametrize("gate", ["silero", "webrtc"])
def test_the_gate_answers_silence_itself(gate):
    system = SmartTurn(gate=gate)
    decision = system.decide(seen(silence(2.0)))
    assert (decision.label, dict(decision.scores)) == ("incomplete", {})
    assert decision.raw == "gate: no speech"
    assert decision.commit == 2.0


def test_silero_keeps_noise_from_the_model():
    burst = np.concatenate([silence(0.3), noise(0.4, level=0.3), silence(0.3)])
    assert SmartTurn(gate="silero").decide(seen(burst)).scores == {}


def test_speech_passes_the_gate_unchanged(bare):
    gated = SmartTurn(version=bare.spec.parameters["version"], gate="silero")
    assert gated.decide(seen(utterance())) == bare.decide(seen(utterance()))


def test_the_gate_hears_what_the_model_hears():
    early = np.concatenate([voice(1.0), silence(8.5)])
    assert SmartTurn(gate="silero").decide(seen(early)).raw == "gate: no speech"


def test_the_tail_is_silence_at_the_end():
    samples = voice(1.5)
    with_tail = SmartTurn(gate="off", tail=0.2).decide(seen(samples))
    by_hand = SmartTurn(gate="off").decide(seen(np.concatenate([samples, silence(0.2)])))
    assert with_tail.scores == by_hand.scores
    assert with_tail.commit == 1.5


def test_the_threshold_is_strict():
    score = SmartTurn(gate="off").decide(seen(voice(1.0))).scores["complete"]
    at = SmartTurn(gate="off", threshold=score)
    assert at.decide(seen(voice(1.0))).label == "incomplete"
    below = SmartTurn(gate="off", threshold=score - 1e-6)
    assert below.decide(seen(voice(1.0))).label == "complete"


@pytest.mark.parametrize(
    "changed", [{"state": "SystemSpeaking"}, {"language": "cy"}, {"channels": {}}]
)
def test_undeclared_cells(bare, changed):
    assert bare.decide(seen(voice(1.0), **changed)).outcome is Outcome.UNSUPPORTED


def test_spec_before_and_after_loading(bare):
    version = bare.spec.parameters["version"]
    fresh = build_system(f"smart-turn-{version}", gate="off").spec
    assert (fresh.name, fresh.level, fresh.states) == (
        f"smart-turn-{version}",
        Level.MEASURED,
        ("SystemIdle",),
    )
    assert len(fresh.languages) == len(set(LANGUAGES)) == 23
    assert fresh.weights == {fresh.name: assets.asset(fresh.name).sha256}
    assert (fresh.front_end.gate, fresh.front_end.pad, fresh.front_end.keep) == (
        "off",
        "left",
        "last",
    )
    assert "int8" not in fresh.parameters
    assert bare.spec.parameters["int8"] == int8_arithmetic()
    exact = SmartTurn(arithmetic="exact", gate="off")
    exact.load()
    assert exact.spec.parameters["int8"] == "exact"


def test_gate_is_in_the_signature():
    spec = SmartTurn(gate="silero").spec
    assert spec.front_end.gate.startswith("silero-vad-6.2.3(threshold=0.5")
    assert set(spec.weights) == {"smart-turn-v3.2", "silero-vad"}


def test_a_file_of_ones_own(tmp_path):
    known = assets.locate("smart-turn-v3.1")
    same = SmartTurn(version="v3.1", gate="off", model_path=str(known))
    assert same.spec == SmartTurn(version="v3.1", gate="off").spec
    other = SmartTurn(version="v3.2", gate="off", model_path=known)
    assert other.spec.version == "v3.2 (own file)"
    assert other.spec.level is Level.REAL_CODE_PATH
    assert other.decide(seen(voice(1.0))).scores == same.decide(seen(voice(1.0))).scores


@pytest.mark.parametrize(
    "bad",
    [
        {"version": "v2"},
        {"gate": "energy"},
        {"tail": -0.1},
        {"tail": 5},
        {"threshold": 1.5},
        {"arithmetic": "fast"},
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(UsageError, match=next(iter(bad))) as caught:
        SmartTurn(**bad)
    assert caught.value.code == "FB513"


def test_bad_models(tmp_path):
    with pytest.raises(EnvironmentProblem, match="FB402"):
        SmartTurn(model_path=tmp_path / "none.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model")
    with pytest.raises(SystemProblem, match="FB514"):
        SmartTurn(model_path=broken).load()
    silero = assets.locate("silero-vad")
    with pytest.raises(SystemProblem, match="expected input_features and logits"):
        SmartTurn(model_path=silero).load()


def test_without_the_weights_the_command_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr("floorbench.audio.assets._installed", lambda wanted: None)
    with pytest.raises(EnvironmentProblem, match=r"floorbench assets get smart-turn-v3\.2"):
        SmartTurn().load()
