from floorbench.core.vocab import MISSING, Outcome


def test_missing_is_everything_that_is_neither_an_answer_nor_unsupported() -> None:
    assert set(Outcome) - MISSING == {Outcome.OK, Outcome.UNSUPPORTED}
