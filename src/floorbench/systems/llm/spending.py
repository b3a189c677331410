"""Telling the engine what each answer cost."""

from __future__ import annotations

from floorbench.systems.llm.protocol import Usage
from floorbench.systems.llm.service import Service


class Spending:
    """A system that counts tokens.

    Tokens that a model on this machine still knew cost nothing and are not among those read. A
    service bills them, so there the whole prompt is read.

    Attributes
    ----------
    usage : Usage
        All that was spent so far.
    """

    usage = Usage()
    _told = Usage()

    def spent(self) -> tuple[int, int]:
        """Return the tokens read and written since the last call of this."""
        before, self._told = self._told, self.usage
        spent = self.usage.prompt - before.prompt
        if not isinstance(getattr(self, "model", None), Service):
            spent = self.usage.evaluated - before.evaluated
        return spent, self.usage.generated - before.generated
