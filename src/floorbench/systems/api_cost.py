"""What asking a service will cost, by a price file of the user's; no price is built in.

A price file is JSON::

    {"date": "2026-03-01", "currency": "USD",
     "models": {"gpt-4o-audio-preview-2025-06-03":
       {"text_in": 2.5, "audio_in": 40.0, "text_out": 10.0, "audio_tokens_per_second": 10.0}}}

Prices are per million tokens. Tokens of words are estimated, never counted by a service's own
tokenizer; the estimate errs on the high side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Compute
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role
from floorbench.errors import DataError, Place
from floorbench.systems.llm.asking import Asking
from floorbench.systems.llm.service import Service
from floorbench.systems.prompted import Prompted, seconds_of
from floorbench.systems.role_texts import RoleTexts

PER_MESSAGE = 8
"""Tokens that a chat template adds to a message, at most."""
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7a3\uff00-\uffef]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of one model, per million tokens.

    Parameters
    ----------
    text_in, text_out : float
    audio_in : float or None
        ``None`` for a model that does not hear.
    audio_tokens_per_second : float or None
        Tokens that the service counts for a second of sound.
    """

    text_in: float
    text_out: float
    audio_in: float | None = None
    audio_tokens_per_second: float | None = None

    def __post_init__(self) -> None:
        for name in ("text_in", "text_out", "audio_in", "audio_tokens_per_second"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise DataError("FB555", f"{name} is {value}, below 0")

    def spent(self, compute: Compute) -> float:
        """Return the most that a call can have cost: its input at the dearer of both prices."""
        dearest = max(self.text_in, self.audio_in or 0.0)
        return (
            (compute.tokens_in or 0) * dearest + (compute.tokens_out or 0) * self.text_out
        ) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceFile:
    """Prices of some models, and when they were written down."""

    date: str
    currency: str
    models: Mapping[str, Price]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """A system that asks a service, as far as its cost goes.

    Parameters
    ----------
    spec : SystemSpec
    model : str
        The service's name of the model.
    hears : bool
        Whether sound is sent, or words.
    around : str
        Text that the system adds to every question.
    answer : int
        Tokens of an answer, at most.
    """

    spec: SystemSpec
    model: str
    hears: bool = False
    around: str = ""
    answer: int


def paid(system: Any) -> Paid | None:
    """Return what asking a system costs; ``None`` for one that asks no service."""
    if isinstance(system, Prompted):
        return Paid(
            spec=system.spec,
            model=system.model.info.name,
            hears=system.model.hears,
            answer=int(str(system.spec.parameters["max_tokens"])),
        )
    if not isinstance(system, Asking | RoleTexts) or not isinstance(system.model, Service):
        return None
    if isinstance(system, Asking):
        around, answer = system.around, system.longest
    else:
        around, answer = "", int(str(system.spec.parameters["max_tokens"]))
    return Paid(spec=system.spec, model=system.model.info.name, around=around, answer=answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a run would send and receive, before it does.

    Parameters
    ----------
    calls : int
    text_tokens : int
        Estimated tokens of questions, words and messages sent.
    audio_seconds : float
        Seconds of sound sent.
    answer_tokens : int
        Tokens written, at most.
    cost : float or None
        In ``currency``; ``None`` without a price file.
    currency, dated : str or None
        From the price file.
    """

    calls: int
    text_tokens: int
    audio_seconds: float
    answer_tokens: int
    cost: float | None = None
    currency: str | None = None
    dated: str | None = None


def read_prices(path: Path) -> PriceFile:
    """Read a price file.

    Raises
    ------
    DataError
        ``FB555`` when a field is missing or the date is none, ``FB402`` when it cannot be read.
    """
    where = Place(str(path))
    data = codec.read_bytes(path)
    try:
        prices = codec.decode(data, PriceFile, where=where)
        date.fromisoformat(prices.date)
    except DataError as error:
        raise DataError("FB555", error.what, where=where) from None
    except ValueError:
        raise DataError(
            "FB555", "its date is none", where=where, hint='"date": "2026-03-01"'
        ) from None
    return prices


def price_of(prices: PriceFile, model: str) -> Price:
    """Return the price of a model (``FB555`` when the file has none)."""
    if model not in prices.models:
        known = ", ".join(prices.models) or "none"
        raise DataError("FB555", f"no price for '{model}'", hint=f"it has: {known}")
    return prices.models[model]


def forecast(
    observations: Iterable[Observation],
    *,
    hears: bool,
    answer: int,
    around: str = "",
    price: Price | None = None,
    prices: PriceFile | None = None,
) -> Forecast:
    """Add up what asking about some observations sends.

    Parameters
    ----------
    observations : iterable of Observation
    hears, answer, around
        As in :class:`Paid`.
    price, prices : Price, PriceFile or None
        The model's price and the file it is from.
    """
    calls, text, seconds = 0, 0, 0.0
    always = estimate(around)
    for observation in observations:
        calls += 1
        seconds += seconds_of(observation, hears=hears)
        text += tokens_of(observation, hears=hears) + always
    written = calls * answer
    cost = None
    if price is not None:
        heard = seconds * (price.audio_tokens_per_second or 0.0) * (price.audio_in or 0.0)
        cost = (text * price.text_in + heard + written * price.text_out) / 1e6
    return Forecast(
        calls=calls,
        text_tokens=text,
        audio_seconds=round(seconds, 3),
        answer_tokens=written,
        cost=cost,
        currency=prices.currency if prices is not None and price is not None else None,
        dated=prices.date if prices is not None and price is not None else None,
    )


def tokens_of(observation: Observation, *, hears: bool) -> int:
    """Estimate the tokens of the words that asking about an observation sends."""
    question = observation.question
    said = [question.text] if question is not None else []
    for turn in observation.turns:
        if not hears or turn.role is Role.SYSTEM or turn.audio is None:
            said.append(turn.text or "")
    if not hears:
        said.append(observation.text or "")
    if observation.spoken_prefix:
        said.append(observation.spoken_prefix)
    return sum(estimate(text) + PER_MESSAGE for text in said)


def estimate(text: str) -> int:
    """Estimate the tokens of a text: one a Chinese, Japanese or Korean sign, else three letters.

    Examples
    --------
    >>> estimate("could you book a table"), estimate("我要订一张桌子")
    (8, 7)
    """
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 3)


def as_rows(found: Forecast) -> list[tuple[str, str]]:
    """Return a forecast as lines to print."""
    rows: list[tuple[str, Any]] = [
        ("calls", found.calls),
        ("text tokens sent (estimate)", found.text_tokens),
        ("seconds of sound sent", found.audio_seconds),
        ("tokens written, at most", found.answer_tokens),
    ]
    if found.cost is None:
        rows.append(("cost", "no price file (--prices)"))
    else:
        rows.append((f"cost, prices of {found.dated}", f"{found.cost:.4f} {found.currency}"))
    return [(name, str(value)) for name, value in rows]
