"""Telling the engine what each answer cost."""

from __future__ import annotations

from floorbench.systems.llm.protocol import Usage


class Spending:
    """A system that counts tokens.

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
        read = self.usage.evaluated - before.evaluated
        return read, self.usage.generated - before.generated
