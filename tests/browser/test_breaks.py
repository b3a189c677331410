"""Odd runs: none of them may leave a page empty, too wide, or with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample, Turn
from floorbench.core.vocab import Outcome, Role
from floorbench.report.stored import StoredRun, read_run
from support.viewing import DuoSource, DuoTask, answers, system, write_run

Opener = Callable[..., Any]
Serve = Callable[..., str]
LONG = "Donaudampfschifffahrt" * 400
RTL = "\u202e\u05e9\u05dc\u05d5\u05dd\u2066 \u0645\u0631\u062d\u0628\u0627 \u202e"
TITLES = "\"><script>document.title='owned'</script>'`${1}"


class OddSource(DuoSource):
    """Items whose ids, texts and histories are as unpleasant as they can be."""

    name = "odd"

    def __init__(self, n: int, texts: tuple[str, ...] = ("plain",), *, turns: int = 1) -> None:
        super().__init__(n)
        self._texts, self._turns = texts, turns

    def sample(self, i: int) -> Sample:
        made = super().sample(i)
        text = self._texts[i % len(self._texts)]
        turns = tuple(
            Turn(role=Role.USER if t % 2 else Role.SYSTEM, text=f"{t} {text}")
            for t in range(self._turns)
        )
        shown = replace(made.observation, text=text, turns=turns, language="he")
        return replace(
            made, observation=shown, tags={"scenario": text, "language": "he", text[:40]: text}
        )


def written(
    base: Path, source: DuoSource, *, names: tuple[str, ...] = ("one", "two"), answer: Any = None
) -> tuple[list[Path], Callable[[Path], StoredRun]]:
    task = DuoTask()
    paths = [
        write_run(
            base, task=task, source=source, spec=system(name), answer=answer or answers(),
            run_id=f"r{i}",
        )
        for i, name in enumerate(names)
    ]  # fmt: skip
    return paths, lambda path: read_run(path, task=task, source=source)


def failed(*_: Any) -> Decision:
    return Decision(outcome=Outcome.FAILED, reason=TITLES)


CASES: dict[str, dict[str, Any]] = {
    "zero items": {"source": OddSource(0)},
    "one item": {"source": OddSource(1)},
    "all failed": {"source": OddSource(4), "answer": failed},
    "ten runs of one name": {"source": OddSource(3), "names": ("same",) * 10},
    "very long text": {"source": OddSource(3, (LONG,))},
    "right to left": {"source": OddSource(3, (RTL,))},
    "markup": {"source": OddSource(3, (TITLES,)), "names": (f"a{TITLES}", TITLES)},
    "enormous history": {"source": OddSource(2, turns=600)},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [1280, 420])
def test_odd_runs_have_whole_pages(
    open_page: Opener, serve: Serve, tmp_path: Path, shots: Path, case: str, width: int
) -> None:
    given = dict(CASES[case])
    source = given.pop("source")
    page = open_page(serve(*written(tmp_path / "runs", source, **given)), width=width)
    page.locator("h1").first.wait_for()
    for where in ("tables", "items", "compare"):
        page.evaluate("where => { location.hash = `#/${where}`; }", where)
        page.locator(f"main.{where} > *").first.wait_for()
        page.wait_for_load_state("networkidle")
        check(page, case, where)
        page.screenshot(path=shots / f"odd-{case}-{where}-{width}.png".replace(" ", "-"))
    if case == "zero items":
        return
    page.evaluate("() => { location.hash = '#/items'; }")
    page.locator("a.row").first.click()
    page.locator("main[data-waves=drawn]").wait_for()
    check(page, case, "item")
    page.screenshot(path=shots / f"odd-{case}-item-{width}.png".replace(" ", "-"))


def check(page: Any, case: str, where: str) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"{case}: {where} is {wide} pixels too wide"
    assert page.locator("main").inner_text().strip()
    assert page.evaluate("document.querySelectorAll('main script').length") == 0
    assert page.title() != "owned"
    assert page.evaluate("document.querySelectorAll('*').length") < 6000
