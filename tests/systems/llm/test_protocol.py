from __future__ import annotations

import math

import pytest

from floorbench.systems.llm.protocol import Prompt, Token, Usage, counted, logprob_of, mass


def test_a_prompt_reads_in_order():
    prompt = Prompt(opening="Q:", pieces=(" a", " b"), closing="?", system="S", chat=True)
    assert prompt.text == "Q: a b?"
    assert [m["role"] for m in prompt.messages] == ["system", "user"]
    assert Prompt(opening="Q:", chat=True).messages == [{"role": "user", "content": "Q:"}]


def test_costs_add_up():
    total = Usage(prompt=5, evaluated=2, generated=1) + Usage(prompt=6, evaluated=1, generated=1)
    assert total == Usage(prompt=11, evaluated=3, generated=2)


def test_mass_sums_what_is_accepted_and_makes_nothing_up():
    tokens = [Token("a", math.log(0.5)), Token("b", math.log(0.25)), Token("c", math.log(0.125))]
    assert mass(tokens, lambda t: t in "ac") == pytest.approx(0.625)
    assert mass(tokens, lambda t: t == "z") is None
    assert mass([Token("a", 1e-9)], lambda t: True) == 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "NaN", "x"])
def test_a_log_probability_is_finite(value):
    with pytest.raises(ValueError, match=r"log probability|could not convert"):
        logprob_of(value)


@pytest.mark.parametrize("counts", [(0, 3, 1), (-2, 0, 1), (5, -1, 1), (5, 0, -1)])
def test_counts_that_cannot_be_true_count_as_not_said(counts):
    prompt, cached, written = counts
    assert counted(prompt=prompt, cached=cached, written=written) == Usage()
    assert counted(prompt=5, cached=2, written=1) == Usage(prompt=5, evaluated=3, generated=1)
