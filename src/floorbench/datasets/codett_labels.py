"""The CoDeTT taxonomy: two states, four actions, fourteen labels, and how they are spelled.

The key of a label is state + action + scenario. Scenario names alone are ambiguous:
*Invalidation*, *Dismissal* and *SideTalk* occur in both states.

Source
------
CoDeTT, Table 1. The spellings ``StopandListen`` and ``SideTalk`` are those of the released data.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

SPEAKING, IDLE = "SystemSpeaking", "SystemIdle"
STATES = (SPEAKING, IDLE)

# state -> action -> scenarios, in the order of the published table
TAXONOMY: dict[str, dict[str, tuple[str, ...]]] = {
    SPEAKING: {
        "Maintain": ("Backchannel", "Invalidation", "SideTalk", "Distraction"),
        "StopandListen": ("Interruption", "Dismissal", "Collaboration"),
    },
    IDLE: {
        "Takeover": ("Completion", "Cooperation"),
        "Dismiss": ("Incomplete", "Invalidation", "Dismissal", "Exclusion", "SideTalk"),
    },
}


@dataclass(frozen=True, slots=True)
class Intent:
    """One of the fourteen labels."""

    state: str
    action: str
    scenario: str

    @property
    def label(self) -> str:
        """Canonical spelling ``State_Action_Scenario``."""
        return f"{self.state}_{self.action}_{self.scenario}"

    @property
    def tags(self) -> str:
        """The answer that the released protocol asks for: ``<|Action|><|Scenario|>``."""
        return f"<|{self.action}|><|{self.scenario}|>"


INTENTS = tuple(
    Intent(state, action, scenario)
    for state, actions in TAXONOMY.items()
    for action, scenarios in actions.items()
    for scenario in scenarios
)
LABELS = tuple(intent.label for intent in INTENTS)
BY_LABEL = {intent.label: intent for intent in INTENTS}
ACTIONS = tuple(action for actions in TAXONOMY.values() for action in actions)
STATE_OF = {action: state for state, actions in TAXONOMY.items() for action in actions}
SCENARIOS = tuple(dict.fromkeys(intent.scenario for intent in INTENTS))
BY_PAIR = {(i.state, i.action, i.scenario): i for i in INTENTS}


def tags_of(text: str) -> list[str]:
    """Return what stands between each ``<|`` and the next ``|>``, trimmed, in one pass.

    Examples
    --------
    >>> tags_of("<|Dismiss|> <| Exclusion|> <|")
    ['Dismiss', 'Exclusion']
    """
    found = []
    end = 0
    while (begin := text.find("<|", end)) >= 0:
        close = text.find("|>", begin + 2)
        if close < 0:  # nor does any later one close
            break
        found.append(text[begin + 2 : close].strip())
        end = close + 2
    return found


def actions_of(state: str) -> tuple[str, ...]:
    """Return the two actions that are possible in a state."""
    return tuple(TAXONOMY[state])


def labels_of(action: str) -> tuple[str, ...]:
    """Return the canonical labels whose parent is ``action``."""
    return tuple(i.label for i in INTENTS if i.action == action)


@lru_cache(maxsize=4096)
def normalise(name: str) -> str:
    """Return a name without case, width, spaces and punctuation, and with ``and`` folded.

    Examples
    --------
    >>> normalise("Stop & Listen") == normalise("StopandListen") == normalise("Stop_Listen")
    True
    >>> normalise("System_Idle")
    'systemidle'
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = re.sub(r"[\W_]+", "", folded)
    return folded.replace("stopandlisten", "stoplisten")


_STATE_BY_NAME = {normalise(s): s for s in STATES}
_ACTION_BY_NAME = {normalise(a): a for a in ACTIONS}
_SCENARIO_BY_NAME = {normalise(s): s for s in SCENARIOS}


def find_state(name: str) -> str | None:
    """Return the state of that name in any spelling."""
    return _STATE_BY_NAME.get(normalise(name))


def find_action(name: str) -> str | None:
    """Return the action of that name in any spelling."""
    return _ACTION_BY_NAME.get(normalise(name))


def find_scenario(name: str) -> str | None:
    """Return the scenario of that name in any spelling."""
    return _SCENARIO_BY_NAME.get(normalise(name))
