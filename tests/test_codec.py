import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench import codec
from floorbench.core.prediction import Decision, Event, Prediction
from floorbench.core.time import Span
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, Place

finite = st.floats(allow_nan=False, allow_infinity=False)
decisions = st.builds(
    Decision,
    outcome=st.sampled_from(Outcome),
    label=st.none() | st.text(),
    scores=st.dictionaries(st.text(max_size=5), finite, max_size=3),
    events=st.lists(st.builds(Event, kind=st.text(max_size=5), time=finite), max_size=3).map(tuple),
    commit=st.none() | finite,
    raw=st.none() | st.text(),
)


@given(st.builds(Prediction, sample_id=st.text(), trial=st.integers(0, 9), decision=decisions))
def test_round_trip(prediction: Prediction) -> None:
    assert codec.decode(codec.encode(prediction), Prediction) == prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested:
    spans: tuple[Span, ...] = ()
    by_name: Mapping[str, Span] | None = None


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (b"{", "FB201", "not valid JSON"),
        (b"\xff", "FB201", "not valid JSON"),
        (b'{"spans": [{"start": 0, "end": 1, "ned": 2}]}', "FB201", "did you mean 'end'"),
        (b'{"by_name": {"a": {"start": 0, "end": 1, "x": 2}}}', "FB201", "unknown key 'x'"),
        (b'{"spans": [{"start": 0}]}', "FB201", "missing"),
        (b'{"spans": [{"start": 2, "end": 1}]}', "FB601", "ends before"),
        (b'{"spans": [{"start": NaN, "end": 1}]}', "FB201", "not valid JSON"),
        (b'{"spans": [{"start": 1e999, "end": 1}]}', "FB201", "out of range"),
        (b'{"spans": ' + b"[" * 100_000, "FB201", "not valid JSON"),
        (b'{"spans": [], "spans": []}', "FB201", "the key 'spans' stands twice in one object"),
    ],
)
def test_bad_input_is_named_with_its_place(line: bytes, code: str, says: str) -> None:
    with pytest.raises(DataError) as caught:
        codec.decode(line, Nested, where=Place("f.jsonl", 3))
    assert caught.value.code == code
    assert "f.jsonl:3" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (float("nan"), r"\$ is nan"),
        ({"a": [1.0, float("inf")]}, r"\$\.a\[1\] is inf"),
        ({"a": ["x", 1, None, {"b": -float("inf")}], "c": 1.0}, r"\$\.a\[3\]\.b is -inf"),
        (np.float64("nan"), r"\$ is nan"),
        (np.array([[0.0, float("nan")]]), r"\$\[0\]\[1\] is nan"),
    ],
)
def test_non_finite_numbers_are_never_written(value: object, where: str) -> None:
    with pytest.raises(DataError, match=f"FB202 {where}"):
        codec.encode(value)


def test_numpy_scalars_become_numbers() -> None:
    got = codec.parse(codec.encode({"a": np.int64(3), "b": np.float32(0.5), "c": np.arange(2)}))
    assert got == {"a": 3, "b": 0.5, "c": [0, 1]}


def test_digest_ignores_key_order_only() -> None:
    assert codec.digest({"a": 1, "b": 2}) == codec.digest({"b": 2, "a": 1})
    assert codec.digest({"a": 1}) != codec.digest({"a": 2})


def test_a_file_that_cannot_be_read_is_named(tmp_path: object) -> None:
    with pytest.raises(DataError, match="FB402"):
        codec.read_json(tmp_path / "none.json", Nested)  # type: ignore[operator]


def test_a_utf8_signature_is_no_content_but_other_bytes_are() -> None:
    assert codec.parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    with pytest.raises(DataError, match="FB201"):
        codec.parse(b"\xff\xfe{\x00")


@pytest.mark.parametrize("write", [codec.encode, codec.digest, codec.encode_pretty])
def test_text_that_is_no_unicode_is_refused_in_words(write: Callable[[object], object]) -> None:
    with pytest.raises(DataError, match=r"FB201 'a\\udcff' is not valid Unicode text"):
        write({"path": "a\udcff"})


def test_non_finite_numbers_in_tuples_are_refused() -> None:
    with pytest.raises(DataError, match=r"FB202 \$\.x\[1\] is nan"):
        codec.encode({"x": (1.0, float("nan"))})


@pytest.mark.parametrize("depth", [900, 980, 990, 995, 998, 1000, 1100, 5000])
def test_brackets_nested_to_any_depth_are_read_or_refused(depth: int) -> None:
    text = "[" * depth + "]" * depth
    try:
        codec.parse(text)
    except DataError as error:
        assert error.code == "FB201"  # noqa: PT017


KEYS = st.sampled_from(["a", "b", 'q"', "\\", "是", "", '"', "a:"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | KEYS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=4).map(tuple)
    ),  # an object, as it is written
    max_leaves=12,
)


def twice(value: object) -> bool:
    if isinstance(value, tuple):
        names = [name for name, _ in value]
        return len(set(names)) < len(names) or any(twice(item) for _, item in value)
    return isinstance(value, list) and any(map(twice, value))


@given(VALUES, st.data())
def test_a_key_that_stands_twice_is_refused_however_it_is_written(
    value: object, data: st.DataObject
) -> None:
    gap = st.sampled_from(["", "", " ", "\n"])

    def string(text: str) -> str:
        plain = json.dumps(text, ensure_ascii=data.draw(st.booleans()))
        if data.draw(st.booleans()):
            return plain
        return '"' + "".join(f"\\u{ord(c):04x}" for c in text) + '"'

    def written(value: object) -> str:
        if isinstance(value, tuple):
            members = (f"{string(k)}{data.draw(gap)}:{written(v)}" for k, v in value)
            return "{" + ",".join(members) + data.draw(gap) + "}"
        if isinstance(value, list):
            return "[" + f",{data.draw(gap)}".join(map(written, value)) + "]"
        return string(value) if isinstance(value, str) else json.dumps(value)

    text = written(value)
    assert codec.is_json(text)
    if twice(value):
        with pytest.raises(DataError, match=r"FB201 the key '.*' stands twice in one object"):
            codec.parse(text)
    else:
        assert codec.parse(text) == codec.parse(text.encode()) == json.loads(text)


def test_marks_that_are_written_as_numbers_hide_no_key() -> None:
    with pytest.raises(DataError, match="the key 'b' stands twice"):
        codec.parse(r'{"a\u0022\u0022": 1, "b": 1, "b": 2}')


def test_half_a_surrogate_pair_is_no_json() -> None:
    with pytest.raises(DataError, match="FB201"):
        codec.parse("\udcff")
