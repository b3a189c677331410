"""An HTTP endpoint as a system: the program protocol's items over POST.

``GET URL/hello`` answers what a program says when it starts; ``POST URL/predict`` takes
``{"type": "predict", "id": n, "items": [...]}`` and answers ``{"type": "answers", ...}``.
"""

from __future__ import annotations

from collections.abc import Sequence

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import SystemProblem
from floorbench.systems.common import in_parts, refusal
from floorbench.systems.llm.http import ask_json, check_url
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.retrying import Policy, calling
from floorbench.systems.worker_wire import (
    item_of,
    placeholder,
    read_answers,
    read_hello,
    spec_of,
)

HINT = "Try `curl URL/hello`; docs/reference/worker-wire.md says what a server answers."


class EndpointSystem:
    """A server of yours that answers items.

    Parameters
    ----------
    url : str
        Its address.
    timeout : float
        Seconds that one answer may take.
    attempts : int
        Calls at most for one answer; a busy or broken server is asked again.
    """

    def __init__(self, *, url: str, timeout: float = 60.0, attempts: int = 3) -> None:
        self._url = check_url("url", url)
        self._policy = Policy(timeout=timeout, attempts=attempts)
        self._asked = 0
        self._loaded = False
        self._size = 1
        self.spec = placeholder("endpoint")

    def load(self) -> None:
        """Ask the server what it is; idempotent.

        Raises
        ------
        SystemProblem
            ``FB551`` when it does not answer, ``FB552`` when it answers something else.
        """
        if self._loaded:
            return
        try:
            message = calling(
                lambda: ask_json(f"{self._url}/hello", timeout=self._policy.timeout), self._policy
            )
        except ModelFault as fault:
            raise SystemProblem("FB551", f"{self._url}/hello: {fault.reason}", hint=HINT) from None
        try:
            hello = read_hello(message, kind="items")
        except SystemProblem as error:
            what = f"{self._url}/hello: {error.what}"
            raise SystemProblem(error.code, what, hint=HINT) from None
        if hello.batch > 1:
            self.decide_batch = self._in_parts
        self._size = hello.batch
        self.spec = spec_of(hello, declared=None)
        self._loaded = True

    def decide(self, observation: Observation) -> Decision:
        """Ask about one observation."""
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        try:
            return self._ask([observation])[0]
        except ModelFault as fault:
            return Decision(outcome=fault.outcome, reason=fault.reason)
        except SystemProblem as error:
            return Decision(outcome=Outcome.FAILED, reason=f"{error.code} {error.what}")

    def _in_parts(self, observations: Sequence[Observation]) -> list[Decision]:
        """Ask about several observations, as many at once as the server takes."""
        return in_parts(observations, spec=self.spec, size=self._size, answer=self._together)

    def _together(self, asked: Sequence[Observation]) -> list[Decision]:
        """Ask about a few; where that goes wrong one by one, so that none depends on another."""
        try:
            return self._ask(asked)
        except (ModelFault, SystemProblem):
            return [self.decide(observation) for observation in asked]

    def _ask(self, observations: Sequence[Observation]) -> list[Decision]:
        self._asked += 1
        asked = self._asked
        rate = self.spec.front_end.rate
        items = [item_of(observation, rate=rate) for observation in observations]
        body = {"type": "predict", "id": asked, "items": items}
        answer = calling(
            lambda: ask_json(
                f"{self._url}/predict", body, timeout=self._policy.timeout * len(items)
            ),
            self._policy,
        )
        return read_answers(answer, asked=asked, items=len(items))
