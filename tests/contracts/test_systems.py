"""What every catalogued system keeps: cheap to build, an honest spec, lawful and stable answers."""

import inspect
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import soundfile

from floorbench import codec
from floorbench.audio.decode import resample
from floorbench.audio.ref import ArrayAudio, FileAudio
from floorbench.catalog import SYSTEMS
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Question, Turn, Word
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Span
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.registry import Registry
from floorbench.systems import build_system
from sounds import RATE, noise, silence, utterance
from support import frame_probe, model_server, stands
from support.frame_talk import TALK

NAMES = list(SYSTEMS.entries())
# What a system cannot be built without.
PARAMETERS = {
    "constant": {"label": "Takeover"},
    "vad-detector": {"detector": "constant", "parameters": {"label": "complete"}},
    "frame-probe": {"artefact": frame_probe.written()},
    **{name: given for name in NAMES if (given := model_server.parameters(name))},
    **stands.NEEDED,
}
RUN = [
    pytest.param(name, marks=[pytest.mark.needs_hf] if name in stands.HF else [])
    for name in NAMES
    if name not in stands.JOINED
]
HEAVY = (
    "onnxruntime", "webrtcvad", "soundfile", "soxr", "torch", "transformers", "huggingface_hub",
    "xllamacpp", "openai", "google.genai", "tokenizers", "websockets", "duckdb", "rich",
)  # fmt: skip
ROOT = Path(__file__).parents[2]


def build(name):
    return build_system(name, **PARAMETERS.get(name, {}))


@pytest.fixture(scope="module", autouse=True)
def _key():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "no-real-key")
        yield


@pytest.fixture(scope="module", params=RUN)
def system(request, tmp_path_factory):
    name = request.param
    given = stands.parameters(name, tmp_path_factory.mktemp("stand"))
    made = build_system(name, **{**PARAMETERS.get(name, {}), **given})
    made.load()
    yield made
    stands.end(made)


def seen(audio, **kw):
    """An observation in which every kind of input is there."""
    filled = {
        "language": "en",
        "state": "SystemIdle",
        "channels": {Role.USER: audio},
        "turns": (
            Turn(role=Role.USER, text="hello"),
            Turn(role=Role.SYSTEM, text="hello, what can I do for you"),
        ),
        "text": "could you book a table for two",
        "words": (Word(text="could", span=Span(0.5, 0.7)), Word(text="you", span=Span(0.7, 0.9))),
        "question": Question(text="Is the turn complete?", answers=("yes", "no")),
    }
    return Observation(**{**filled, **kw})


def memory(samples, rate=RATE, **kw):
    return seen(ArrayAudio(samples, rate=rate), **kw)


SITUATIONS = {
    "an utterance": lambda: memory(utterance()),
    "silence": lambda: memory(silence(1.5)),
    "noise": lambda: memory(noise(1.5)),
    "one sample": lambda: memory(noise(1.0)[:1]),
    "long audio": lambda: memory(utterance(speech=10.0)),
    "nothing visible": lambda: seen(ArrayAudio(utterance(), rate=RATE, cutoff=0.0)),
    "8 kHz": lambda: memory(resample(utterance(), source=RATE, target=8_000), rate=8_000),
    "48 kHz": lambda: memory(resample(utterance(), source=RATE, target=48_000), rate=48_000),
    "the system speaks": lambda: memory(utterance(), state="SystemSpeaking"),
    "no state": lambda: memory(utterance(), state=None),
    "no audio": lambda: memory(utterance(), channels={}),
    "Mandarin": lambda: memory(utterance(), language="zh"),
    "an undeclared language": lambda: memory(utterance(), language="cy"),
    "only audio": lambda: memory(utterance(), turns=(), text=None, words=(), question=None),
    "two channels": lambda: memory(utterance(), activity=TALK.activity, cutoff=TALK.cutoff),
    "an empty transcript": lambda: memory(silence(0.5), text=""),
}


def check_lawful(system, observation, decision):
    assert isinstance(decision, Decision)
    assert isinstance(decision.outcome, Outcome)
    json.loads(codec.encode(decision))
    assert all(math.isfinite(v) for v in decision.scores.values())
    if decision.outcome is Outcome.OK:
        said = (decision.label, decision.raw, decision.scores, decision.events, decision.trace)
        assert any(said)
        assert decision.reason is None
        if system.spec.labels is not None and decision.label is not None:
            assert decision.label in system.spec.labels
    else:
        assert decision.reason
    if decision.commit is not None:
        audio = observation.channels[Role.USER]
        assert 0.0 <= decision.commit <= audio.frames / audio.rate + 1e-9


def test_spec(system):
    spec = system.spec
    assert isinstance(spec, SystemSpec)
    assert codec.decode(codec.encode(spec), SystemSpec) == spec
    assert spec.version
    assert spec.licence != "unknown"
    for declared in (spec.labels, spec.states, spec.languages):
        assert declared is None or (declared and len(set(declared)) == len(declared))
    for digest in spec.weights.values():
        assert len(digest) == 64
    if "audio" in spec.modalities:
        assert spec.front_end.rate
        assert spec.front_end.resampler


@pytest.mark.parametrize("name", NAMES)
def test_name_and_level_are_those_of_the_catalogue(name):
    spec = build(name).spec
    entry = SYSTEMS.entry(name)
    assert spec.name.split("(")[0] == name
    assert Level(entry.level) is spec.level


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_situation_gets_a_lawful_answer_twice(system, situation):
    observation = SITUATIONS[situation]()
    decision = system.decide(observation)
    check_lawful(system, observation, decision)
    assert system.decide(SITUATIONS[situation]()) == decision


def test_what_is_not_declared_is_not_claimed(system):
    for situation, declared in (
        ("the system speaks", system.spec.states is None or "SystemSpeaking" in system.spec.states),
        ("an undeclared language", system.spec.languages is None or "cy" in system.spec.languages),
        ("no audio", "audio" not in system.spec.modalities),
    ):
        observation = SITUATIONS[situation]()
        if "activity" in system.spec.modalities:
            observation = replace(observation, activity=TALK.activity, cutoff=TALK.cutoff)
        if observation.language == "en" and "en" not in (system.spec.languages or ("en",)):
            observation = replace(observation, language=system.spec.languages[0])
        outcome = system.decide(observation).outcome
        assert (outcome is Outcome.UNSUPPORTED) == (not declared), situation


def test_answers_do_not_depend_on_what_was_asked_before(system):
    alone = system.decide(SITUATIONS["an utterance"]())
    for situation in ("noise", "silence", "long audio"):
        system.decide(SITUATIONS[situation]())
    assert system.decide(SITUATIONS["an utterance"]()) == alone


def test_a_batch_is_the_single_answers_in_order(system):
    observations = [SITUATIONS[s]() for s in ("noise", "an utterance", "no audio", "silence")]
    single = [system.decide(observation) for observation in observations]
    if hasattr(system, "decide_batch"):
        assert system.decide_batch(observations) == single
    else:
        assert [system.decide(observation) for observation in observations] == single


def test_a_chosen_channel_of_a_stereo_file_is_that_channel(system, tmp_path):
    import numpy as np

    user, other = utterance(), noise(3.25, level=0.3)
    path = tmp_path / "call.wav"
    soundfile.write(path, np.stack([other, user], axis=1), RATE, "FLOAT")
    from_file = system.decide(seen(FileAudio(path, channel=1)))
    assert from_file == system.decide(memory(user))


def test_nothing_after_the_cutoff_is_heard(system):
    import numpy as np

    one = np.concatenate([utterance(), noise(1.0)])
    two = np.concatenate([utterance(), silence(1.0)])
    length = utterance().size / RATE
    heard = [system.decide(seen(ArrayAudio(w, rate=RATE, cutoff=length))) for w in (one, two)]
    assert heard[0] == heard[1] == system.decide(memory(utterance()))


def test_loading_twice_changes_nothing(system):
    before = system.spec
    system.load()
    assert system.spec == before


def test_building_loads_nothing_heavy():
    script = (
        "import sys\n"
        "from floorbench.systems import build_system\n"
        f"given = {PARAMETERS!r}\n"
        f"[build_system(n, **given.get(n, {{}})).spec for n in {NAMES!r}]\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_keyword_only(name):
    assert isinstance(SYSTEMS, Registry)
    kinds = {p.kind for p in inspect.signature(SYSTEMS.load(name)).parameters.values()}
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
