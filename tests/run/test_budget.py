"""A run stops when its budget is spent, keeps what it paid for, and goes on later."""

from __future__ import annotations

import pytest

from fake_server import Reply, chat, serving
from floorbench.datasets.open import open_dataset
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.run.budget import BudgetExecutor
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.systems.api_cost import Price
from floorbench.tasks.codett import CodettTask

PRICE = Price(text_in=1.0, text_out=0.0)  # 1000 tokens a call: 0.001
SAID = chat("<|Dismiss|><|Incomplete|>", prompt=1000)


def go(server, tmp_path, *, budget, executor="serial", workers=1, **more):
    inner = make_executor(executor, workers=workers)
    where = BudgetExecutor(inner, price=PRICE, budget=budget, currency="USD")
    given = {"model": "m", "base_url": server.url + "/v1", "attempts": 1}
    return run(
        task=CodettTask(),
        system=SystemChoice(name="prompted-openai", parameters=given),
        source=open_dataset("starter:codett"),
        executor=where,
        conditions=["h0"],
        limit=6,
        out=tmp_path / "runs",
        notify=lambda _: None,
        **more,
    )


def test_it_stops_before_the_next_question_and_goes_on(tmp_path):
    with serving([Reply(SAID)]) as server:
        with pytest.raises(EnvironmentProblem, match="FB556") as caught:
            go(server, tmp_path, budget=0.0025)
        assert "0.0030 of 0.0025 USD are spent" in str(caught.value)
        assert "--resume" in str(caught.value)
        assert len(server.calls) == 3
        (folder,) = (tmp_path / "runs").glob("*/*/*")
        whole = go(server, tmp_path, budget=1.0, resume=folder)
        assert len(server.calls) == 6
    assert len(list(whole.predictions())) == 6


def test_threads_overshoot_by_what_is_under_way_at_most(tmp_path):
    with serving([Reply(SAID)]) as server:
        with pytest.raises(EnvironmentProblem, match="FB556"):
            go(server, tmp_path, budget=0.0015, executor="thread", workers=2)
        assert 2 <= len(server.calls) <= 4


def test_a_budget_and_batches_do_not_go_together():
    inner = make_executor("serial", batch=2)
    with pytest.raises(UsageError, match=r"FB103.*--budget and --batch 2"):
        BudgetExecutor(inner, price=PRICE, budget=1.0, currency="USD")


def test_a_budget_that_is_enough_is_not_noticed(tmp_path):
    with serving([Reply(SAID)]) as server:
        assert len(list(go(server, tmp_path, budget=0.006).predictions())) == 6


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan")])
def test_a_budget_is_above_nothing(budget):
    with pytest.raises(UsageError, match="FB103"):
        BudgetExecutor(make_executor("serial"), price=PRICE, budget=budget, currency="USD")
