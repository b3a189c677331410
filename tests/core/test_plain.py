from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.core.plain import sample_from_plain, sample_to_plain
from floorbench.core.sample import Observation, Question, Sample, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role

TEXT = st.text(max_size=5)
SPAN = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda t: Span(min(t), max(t)))
OBSERVATIONS = st.builds(
    Observation,
    language=TEXT,
    state=st.none() | TEXT,
    turns=st.lists(
        st.builds(Turn, role=st.sampled_from(Role), text=st.none() | TEXT), max_size=2
    ).map(tuple),
    text=st.none() | TEXT,
    words=st.lists(
        st.builds(Word, text=TEXT, span=st.none() | SPAN, role=st.sampled_from(Role)), max_size=2
    ).map(tuple),
    activity=st.dictionaries(st.sampled_from(Role), st.lists(SPAN, max_size=2).map(tuple)),
    spoken_prefix=st.none() | TEXT,
    question=st.none() | st.builds(Question, text=TEXT, answers=st.just(("a", "b"))),
    cutoff=st.none() | st.floats(0, 9),
    repeat=st.integers(0, 2),
)
SAMPLES = st.builds(
    Sample,
    id=TEXT,
    cluster=TEXT,
    stratum=TEXT,
    observation=OBSERVATIONS,
    target=st.dictionaries(TEXT, st.integers()),
    tags=st.dictionaries(TEXT, TEXT),
)


def none(*_: Any) -> Any:
    raise AssertionError("there is no audio")


@settings(max_examples=30)
@given(SAMPLES)
def test_a_sample_comes_back_whole(sample: Sample) -> None:
    assert sample_from_plain(sample_to_plain(sample, none), none) == sample


def test_audio_is_named_by_its_place() -> None:
    class Sound:
        pass

    one, two, three = Sound(), Sound(), Sound()
    observation = Observation(
        language="en",
        turns=(Turn(role=Role.USER), Turn(role=Role.USER, audio=one)),  # type: ignore[arg-type]
        channels={Role.USER: two, Role.SYSTEM: three},  # type: ignore[dict-item]
    )
    sample = Sample(id="a", cluster="c", observation=observation, target={})
    met: list[tuple[str, Any]] = []

    def note(place: str, ref: Any) -> int:
        met.append((place, ref))
        return len(met) - 1

    plain = sample_to_plain(sample, note)
    assert met == [("turn01", one), ("user", two), ("system", three)]
    assert sample_from_plain(plain, lambda n: met[n][1]) == sample


def test_what_is_empty_is_left_out() -> None:
    sample = Sample(id="a", cluster="c", observation=Observation(language="en"), target={})
    plain = sample_to_plain(sample, none)
    assert plain["observation"] == {"language": "en"}
    assert "stratum" not in plain
    silent = replace(sample.observation, text="")
    assert sample_to_plain(replace(sample, observation=silent), none)["observation"]["text"] == ""
