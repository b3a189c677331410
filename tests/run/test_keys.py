from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.prediction import PredictionKey
from floorbench.run.keys import KeyTable, key_code, observation_code


def test_codes_tell_apart_what_looks_alike_when_joined() -> None:
    keys = [
        PredictionKey("a", "b", 0),
        PredictionKey("a", "b", 1),
        PredictionKey("ab", "", 0),
        PredictionKey("a", "", 0),
    ]
    assert len({key_code(k) for k in keys}) == len(keys)
    assert key_code(keys[0]) == key_code(PredictionKey("a", "b", 0))


@given(st.dictionaries(st.integers(1, 2**64 - 1), st.integers(0, 2**63 - 1), max_size=60))
def test_behaves_like_a_dict(pairs: dict[int, int]) -> None:
    table = KeyTable(capacity=2)
    for code, value in pairs.items():
        assert table.add(code, value)
        assert not table.add(code, value + 1 if value < 5 else 0)
    assert len(table) == len(pairs)
    for code, value in pairs.items():
        assert table.get(code) == value
        assert table.mark(code)
        assert not table.mark(code)
        assert table.get(code) == value
    unknown = next(c for c in range(1, 100) if c not in pairs)
    assert table.get(unknown) is None


def test_marks_survive_growth() -> None:
    table = KeyTable(capacity=2)
    table.add(5, 7)
    table.mark(5)
    for code in range(10, 200):
        table.add(code)
    assert not table.mark(5)
    assert table.get(5) == 7


def test_observation_code_keeps_63_bits_and_none_is_zero() -> None:
    assert observation_code(None) == 0
    assert observation_code("f" * 64) == 2**63 - 1
    assert observation_code("1" + "0" * 63) != observation_code("2" + "0" * 63)
