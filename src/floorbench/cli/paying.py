"""What a run on a paid service costs: before it (dry run) and while it goes on (budget)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from floorbench.cli import console
from floorbench.core.ports import DatasetSource
from floorbench.errors import UsageError
from floorbench.metrics.base import ScoringTask
from floorbench.run.budget import BudgetExecutor
from floorbench.run.due import due_items, make_plan
from floorbench.run.executors import Executor
from floorbench.systems.api_cost import (
    Paid,
    Price,
    PriceFile,
    as_rows,
    forecast,
    paid,
    price_of,
    read_prices,
)
from floorbench.systems.build import build_system


def dry_run(
    task: ScoringTask,
    source: DatasetSource,
    system: str,
    parameters: dict[str, Any],
    *,
    conditions: Sequence[str] | None,
    limit: int | None,
    trials: int,
    prices: Path | None,
    json: bool,
) -> int:
    """Say what a run would send; nothing is sent and no key is needed."""
    made = _paid(system, parameters)
    file = read_prices(prices) if prices is not None else None
    price = price_of(file, made.model) if file is not None else None
    plan = make_plan(task, made.spec, conditions=conditions, trials=trials, limit=limit)

    asked = (
        task.observe(due.sample, due.condition, system=made.spec)
        for due in due_items(task, source, made.spec, plan)
    )
    found = forecast(
        asked,
        hears=made.hears,
        answer=made.answer,
        around=made.around,
        price=price,
        prices=file,
    )
    if json:
        console.data_json(dataclasses.asdict(found))
    else:
        console.data(console.columns(as_rows(found), (made.spec.name, "dry run")))
    return 0


def capped(
    executor: Executor,
    system: str,
    parameters: dict[str, Any],
    *,
    budget: float,
    prices: Path | None,
) -> BudgetExecutor:
    """Return the executor with a cap on what it may spend.

    Raises
    ------
    UsageError
        ``FB103`` without a price file.
    """
    if prices is None:
        raise UsageError("FB103", "--budget needs your price file: --prices FILE")
    file, price = model_price(system, parameters, prices)
    return BudgetExecutor(executor, price=price, budget=budget, currency=file.currency)


def model_price(system: str, parameters: dict[str, Any], prices: Path) -> tuple[PriceFile, Price]:
    """Return a price file and the price of a system's model in it."""
    file = read_prices(prices)
    return file, price_of(file, _paid(system, parameters).model)


def _paid(system: str, parameters: dict[str, Any]) -> Paid:
    made = paid(build_system(system, **parameters))
    if made is None:
        raise UsageError("FB103", f"'{system}' asks no paid service")
    return made
