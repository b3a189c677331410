"""The ECHO protocol: what each kind of system sees, and every number against a plain count."""

from __future__ import annotations

from typing import Any

import pytest

from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import Sample
from floorbench.core.vocab import Outcome, Role
from floorbench.datasets.echo import EchoSource
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import point
from floorbench.tasks.echo import EchoTask, prompt_hashes
from oracles.echo_scores import plain_prsr, plain_scores
from support import echo_tiny, scoring

TASK = EchoTask()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sample, ...]:
    folder = echo_tiny.build(tmp_path_factory.mktemp("echo") / "set", copies=4)
    return tuple(EchoSource(folder).samples())


def test_a_stream_sees_both_channels_and_neither_text_nor_prefix(samples: Any) -> None:
    spec = scoring.system("s", streaming_step=0.02)
    shown = TASK.observe(samples[0], "", system=spec)
    assert set(shown.channels) == {Role.USER, Role.SYSTEM}
    assert (shown.text, shown.spoken_prefix, shown.words, shown.question) == (None, None, (), None)
    words = scoring.system("s", streaming_step=0.02, modalities=("words",))
    assert TASK.observe(samples[0], "", system=words).words == samples[0].observation.words


def test_a_system_that_takes_a_recording_hears_the_user_up_to_the_insertions_end(
    samples: Any,
) -> None:
    shown = TASK.observe(samples[0], "", system=scoring.system("a", modalities=("audio",)))
    end = samples[0].target["events"]["insertion_end"]
    assert set(shown.channels) == {Role.USER}
    assert shown.channels[Role.USER].cutoff == shown.cutoff == end
    assert shown.text is None
    assert shown.spoken_prefix == "it began"


def test_a_text_system_reads_history_prefix_insertion_and_question(samples: Any) -> None:
    shown = TASK.observe(samples[0], "", system=scoring.system("t", modalities=("text",)))
    assert shown.channels == {}
    assert shown.text == samples[0].observation.text
    assert shown.turns
    assert shown.question is not None
    assert shown.question.answers == ("interruption", "backchannel", "off_talk")


def label(action: str) -> Any:
    return lambda sample, condition: Decision(label=action)


def values(samples: Any, answer: Any, system: Any = None, **kw: Any) -> dict[Any, float | None]:
    spec = system or scoring.system("toy")
    _, measures = scoring.score(TASK, samples, spec, answer, **kw)
    return {
        (m.metric.spec.name, *sorted(m.slice.items())): point(m.metric, m.scored).value
        for m in measures
        if m.undeclared is None
    }


def of(found: dict[Any, float | None], metric: str, **where: str) -> float | None:
    return found[(metric, *sorted({"language": "zh", "tail": "0 s", **where}.items()))]


@pytest.mark.parametrize(
    ("action", "accuracies", "macro", "pkc"),
    [("yield", (1, 0, 0), 1 / 3, 0.0), ("keep", (0, 1, 1), 2 / 3, 1.0)],
)
def test_constants_are_degenerate_as_they_should_be(
    samples: Any, action: str, accuracies: tuple[int, ...], macro: float, pkc: float
) -> None:
    found = values(samples, label(action))
    for role, value in zip(echo_tiny.ROLES, accuracies, strict=True):
        assert of(found, "accuracy", role=role) == value
    assert of(found, "macro_accuracy") == pytest.approx(macro)
    assert of(found, "pasr") == 0.0
    assert of(found, "pkc") == pkc
    where = {"language": "zh", "baseline": f"always {action}"}
    assert found[("macro_accuracy", *sorted(where.items()))] == pytest.approx(macro)
    assert found[("pkc", *sorted(where.items()))] == pkc


def mixed(sample: Sample, condition: str) -> Decision | None:
    """Answer in every way there is, by turns."""
    number = sum(map(ord, sample.id)) * 7919 % 11
    events = sample.target["events"]
    onset, end = events["insertion_start"], events["insertion_end"]
    heard = (Event(kind="observed", time=end + 1.0),)
    at = {0: onset - 0.1, 1: onset, 2: onset + 0.3, 3: end + 0.2, 4: end - 0.01}
    if number in at:
        return Decision(events=(Event(kind="action", label="yield", time=at[number]), *heard))
    return {
        5: Decision(events=heard),
        6: Decision(events=(Event(kind="observed", time=end + 0.1),)),
        7: Decision(outcome=Outcome.FAILED),
        8: Decision(outcome=Outcome.TIMEOUT),
        9: Decision(events=heard),
    }.get(number)


@pytest.mark.parametrize("tail", [0.0, 1.0])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_number_equals_a_plain_count(samples: Any, tail: float, language: str) -> None:
    found = values(samples, mixed)
    items = [s for s in samples if s.observation.language == language]
    expected = plain_scores([(s, mixed(s, "")) for s in items], tail=tail)
    where = {"language": language, "tail": f"{tail:g} s"}
    for role in echo_tiny.ROLES:
        assert of(found, "accuracy", role=role, **where) == pytest.approx(expected[role])
    assert of(found, "macro_accuracy", **where) == pytest.approx(expected["macro"])
    assert of(found, "pasr", **where) == pytest.approx(expected["pasr"])
    assert of(found, "pkc", **where) == pytest.approx(expected["pkc"])
    for name in ("yield", "premature"):
        share = of(found, "prediction_share", answer=name, **where)
        assert share == pytest.approx(expected[name])
    for contrast in ("I-B", "I-O"):
        cell = {**where, "contrast": contrast}
        assert of(found, "pasr", **cell) == pytest.approx(expected[contrast])
        product = of(found, "independence_baseline", baseline="independence", **cell)
        assert product == pytest.approx(expected[f"{contrast} independent"])
    q = expected["yield"]
    matched = {**where, "baseline": "rate-matched"}
    assert of(found, "rate_matched_pasr", **matched) == pytest.approx(q * (1 - q))
    assert of(found, "rate_matched_pkc", **matched) == pytest.approx((1 - q) ** 2)


def test_trials_are_averaged_within_a_sample(samples: Any) -> None:
    once, thrice = (values(samples, mixed, trials=n) for n in (1, 3))
    assert once == pytest.approx(thrice)


def test_latencies_are_signed_and_missed_ones_count_as_never(samples: Any) -> None:
    def early(sample: Sample, condition: str) -> Decision:
        onset = sample.target["events"]["insertion_start"]
        by_role = {"interruption": -0.2, "backchannel": 0.3}
        heard = Event(kind="observed", time=9.0)
        shift = by_role.get(sample.target["role"])
        said = () if shift is None else (Event(kind="action", label="yield", time=onset + shift),)
        return Decision(events=(*said, heard))

    found = values(samples, early)
    where = {"language": "zh", "anchor": "acoustic onset"}

    def cell(metric: str, **more: str) -> float | None:
        return found[(metric, *sorted({**where, **more}.items()))]

    median = {"percentile": "50%"}
    assert cell("latency_percentile", role="interruption", **median) == pytest.approx(-0.2)
    assert cell("latency_percentile", role="backchannel", **median) == pytest.approx(0.3)
    assert cell("latency_percentile", role="off_talk", **median) is None
    assert cell("early_share", role="interruption") == 1.0
    assert cell("answered_share", role="off_talk") == 0.0


def test_streams_answer_with_actions_so_they_have_no_roles(samples: Any) -> None:
    """A stream may use the roles' names as labels; its pair of roles is N/A, not 0."""
    system = scoring.system("s", labels=echo_tiny.ROLES, streaming_step=0.1)

    def named(sample: Sample, condition: str) -> Decision:
        at = sample.target["events"]["insertion_start"] + 0.1
        said = Event(kind="action", label=sample.target["role"], time=at, commit=at)
        return Decision(events=(said, Event(kind="observed", time=9.0)))

    _, measures = scoring.score(TASK, samples, system, named)
    cells = [m for m in measures if m.slice.get("answers") == "three-way"]
    assert cells
    assert all(m.undeclared for m in cells)
    assert of(values(samples, named, system), "pasr") == 1.0


def test_roles_are_scored_for_systems_that_answer_with_them(samples: Any) -> None:
    system = scoring.system("llm", labels=echo_tiny.ROLES)
    right = values(samples, lambda s, c: Decision(label=s.target["role"]), system)
    cell = ("prsr", ("answers", "three-way"), ("language", "zh"))
    assert right[cell] == 1.0
    constant = values(samples, label("backchannel"), system)
    assert constant[cell] == 0.0

    def muddled(sample: Sample, condition: str) -> Decision:
        keep = sample.target["role"] != "interruption"
        return Decision(label="off_talk" if keep else "interruption")

    found = values(samples, muddled, system)
    assert of(found, "pkc") == 1.0  # right in the binary space
    assert found[cell] == pytest.approx(1 / 3)  # and only the I-O pairs in the three-way one


def test_a_pair_with_one_member_left_out_is_no_pair(samples: Any) -> None:
    scored, _ = scoring.score(TASK, samples[:1], scoring.system("toy"), label("yield"))
    assert len(scored["sample"]) == 1
    assert len(scored["pair"]) == 0


def test_capability_and_bad_parameters(samples: Any) -> None:
    assert not TASK.due(samples[0], scoring.system("fr", languages=("fr",)))
    with pytest.raises(UsageError, match="FB103"):
        EchoTask(missing="ignore")
    with pytest.raises(UsageError, match="FB103"):
        EchoTask(prompt="v9")
    with pytest.raises(DataError, match="FB215"):
        EchoTask(languages=("fr",)).due(samples[0], scoring.system("x", languages=("fr",)))
    with pytest.raises(DataError, match="FB222"):
        TASK.observe(samples[0], "h5")
    assert set(prompt_hashes("v1")) == {"question.en.txt", "question.zh.txt"}


def guessed(sample: Sample, condition: str) -> Decision:
    """Name the three roles by turns, and fail now and then."""
    number = sum(map(ord, sample.id)) * 7919 % 13
    if number in (0, 1):
        return Decision(outcome=(Outcome.FAILED, Outcome.TIMEOUT)[number])
    right = sample.target["role"]
    return Decision(label=echo_tiny.ROLES[number % 3] if number < 5 else right)


@pytest.mark.parametrize("contrast", ["I-B", "I-O", "B-O", None])
def test_prsr_equals_a_plain_count(samples: Any, contrast: str | None) -> None:
    found = values(samples, guessed, scoring.system("roles", labels=echo_tiny.ROLES))
    where = {"language": "zh", "answers": "three-way"}
    if contrast is not None:
        where["contrast"] = contrast
    items = [(s, guessed(s, "")) for s in samples if s.observation.language == "zh"]
    expected = plain_prsr(items, contrast)
    assert 0 < expected < 1
    assert found[("prsr", *sorted(where.items()))] == pytest.approx(expected, abs=1e-12)
