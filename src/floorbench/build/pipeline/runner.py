"""One step on one item: look in the cache, else make, keep, and say what happened."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from floorbench import codec
from floorbench.build.pipeline.recipes import check_ids, stages_of
from floorbench.build.pipeline.stage import (
    Audio,
    Gather,
    Item,
    Made,
    Rejected,
    Retried,
    Stage,
    Step,
)
from floorbench.build.pipeline.store import (
    Folder,
    Kept,
    Result,
    ResultCache,
    SoundDamaged,
    SoundStore,
    refused,
    result_key,
    stops_the_build,
)
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, EnvironmentProblem, FloorbenchError


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a stage, made now or found in the cache.

    Parameters
    ----------
    stage, key : str
    attempt : int
    cached : bool
    wall, cpu, seconds : float
        Seconds by the clock, of the processor, and of sound stored; also of a cached call, as they
        were when it was made.
    reason : str or None
        Word of a rejection.
    """

    stage: str
    key: str
    attempt: int
    cached: bool
    wall: float
    cpu: float
    seconds: float
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An item that a stage could not treat; nothing of it is cached.

    Parameters
    ----------
    code : str or None
        Of an expected error.
    what : str
    trace : tuple of str
        Where an unexpected error came from.
    damaged : str or None
        Digest of a stored sound that must be made again first.
    """

    code: str | None
    what: str
    trace: tuple[str, ...] = ()
    damaged: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one item in one step: made, rejected or failed; and where."""

    stage: str
    items: tuple[Item, ...] = ()
    rejected: Rejected | None = None
    failed: Failure | None = None
    calls: tuple[Call, ...] = ()


class WorkBench:
    """The bench of one call (see :class:`~floorbench.build.pipeline.stage.Bench`)."""

    def __init__(self, sounds: SoundStore, *, seed: int, stage: str, item: str, attempt: int):
        self._sounds = sounds
        self._entropy = codec.encode([seed, stage, item, attempt])
        self.seed = seed
        self.attempt = attempt
        self.notes: list[dict[str, JsonValue]] = []
        self.kept: list[Kept] = []

    @property
    def rng(self) -> np.random.Generator:
        """A generator of this call's own; every access starts the same sequence anew."""
        words = hashlib.sha256(self._entropy).digest()
        return np.random.default_rng(int.from_bytes(words, "big"))

    def load(self, digest: str) -> tuple[Audio, int]:
        """Return mono samples and their rate."""
        return self._sounds.load(digest)

    def keep(self, samples: Audio, rate: int) -> str:
        """Store mono samples and return their digest."""
        digest, seconds = self._sounds.keep(samples, rate)
        size = self._sounds.size(digest) or 0
        self.kept.append(Kept(digest=digest, seconds=seconds, size=size))
        return digest

    def note(self, kind: str, **facts: JsonValue) -> None:
        """Add a line of lineage."""
        self.notes.append({"kind": kind, **facts})


class Runner:
    """The stages of one process.

    Parameters
    ----------
    steps : sequence of Step
    cache : Path
    seed : int
    fresh : set of str
        Stages whose cached results are not looked at.
    """

    def __init__(
        self, steps: Sequence[Step], *, cache: Path, seed: int, fresh: frozenset[str] = frozenset()
    ) -> None:
        folder = Folder(cache)
        self.folder = folder
        self.steps = steps
        self.seed = seed
        self.fresh = fresh
        self.sounds = SoundStore(folder)
        self.results = ResultCache(folder, self.sounds)
        self._settings: dict[str, Mapping[str, JsonValue]] = {}
        self._started: set[str] = set()

    def key(self, stage: Stage | Gather, content: object, attempt: int) -> str:
        """Return the key of a stage's result.

        Raises
        ------
        DataError
            ``FB852`` when settings or items hold what JSON cannot; ``FB202`` for a number that is
            not finite.
        """
        if stage.name not in self._settings:
            self._settings[stage.name] = dict(stage.settings())
        try:
            return result_key(
                stage=stage.name,
                version=stage.version,
                settings=self._settings[stage.name],
                content=content,
                attempt=attempt,
                seed=self.seed,
            )
        except TypeError as error:
            what = f"settings or items of stage '{stage.name}' are no JSON ({error})"
            raise DataError("FB852", what) from None

    def start(self, stage: Stage) -> None:
        """Load a stage's models, once.

        Raises
        ------
        FloorbenchError
            The stage's own.
        EnvironmentProblem
            ``FB854`` when it raises anything else.
        """
        if stage.name in self._started:
            return
        try:
            stage.start()
        except FloorbenchError:
            raise
        except Exception as error:
            what = f"stage '{stage.name}' raises {type(error).__name__}: {error}"
            raise EnvironmentProblem("FB854", what) from error
        self._started.add(stage.name)

    def known(self, index: int, item: Item) -> Done | None:
        """Return what the cache holds of an item's way through a step, if all of it is there."""
        try:
            return self._through(index, item, make=False, fresh=True)
        except _Missing:
            return None

    def treat(self, index: int, item: Item, *, fresh: bool = True) -> Done:
        """Send an item through a step.

        Parameters
        ----------
        index : int
            Of a step that is not a gathering one.
        item : Item
        fresh : bool
            Heed the stages that are to be made anew.

        Raises
        ------
        EnvironmentProblem
            When no item could be made: from the stage, or because the disk is full.
        """
        return self._through(index, item, make=True, fresh=fresh)

    def _through(self, index: int, item: Item, *, make: bool, fresh: bool) -> Done:
        step = self.steps[index]
        if isinstance(step, Gather):
            raise TypeError(f"step {index} takes all items at once")
        calls: list[Call] = []
        try:
            return self._step(step, item, calls, make=make, fresh=fresh)
        except _Failed as failed:
            return Done(stage=failed.stage, failed=failed.failure, calls=tuple(calls))

    def _step(
        self, step: Stage | Retried, item: Item, calls: list[Call], *, make: bool, fresh: bool
    ) -> Done:
        if isinstance(step, Retried):
            maker, checker, attempts = step.maker, step.checker, step.attempts
        else:
            maker, checker, attempts = step, None, 1
        last = Done(stage=maker.name)
        for attempt in range(attempts):
            made = self._call(maker, item, attempt, calls, make=make, fresh=fresh)
            if made.rejected is not None:
                last = Done(stage=maker.name, rejected=made.rejected, calls=tuple(calls))
                continue
            items = made.items or ()
            if checker is None:
                return Done(stage=maker.name, items=items, calls=tuple(calls))
            passed: list[Item] = []
            for one in items:
                found = self._call(checker, one, attempt, calls, make=make, fresh=fresh)
                if found.rejected is not None:
                    last = Done(stage=checker.name, rejected=found.rejected, calls=tuple(calls))
                    break
                passed += found.items or ()
            else:
                return Done(stage=checker.name, items=tuple(passed), calls=tuple(calls))
        return last

    def _call(
        self,
        stage: Stage,
        item: Item,
        attempt: int,
        calls: list[Call],
        *,
        make: bool,
        fresh: bool,
    ) -> Result:
        key = self.key(stage, item, attempt)
        result = None if fresh and stage.name in self.fresh else self.results.get(key)
        cached = result is not None
        if result is None:
            if not make:
                raise _Missing
            result = self._make(stage, item, attempt, key)
        calls.append(
            Call(
                stage=stage.name,
                key=key,
                attempt=attempt,
                cached=cached,
                wall=result.wall,
                cpu=result.cpu,
                seconds=result.seconds,
                reason=result.rejected.reason if result.rejected is not None else None,
            )
        )
        return result

    def _make(self, stage: Stage, item: Item, attempt: int, key: str) -> Result:
        self.start(stage)
        bench = WorkBench(
            self.sounds, seed=self.seed, stage=stage.name, item=item.id, attempt=attempt
        )
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            outcome = stage.make(item, bench)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            if not isinstance(outcome, Made | Rejected):
                kind = type(outcome).__name__
                raise DataError("FB852", f"stage '{stage.name}' returned a {kind}")
            items = outcome.items if isinstance(outcome, Made) else None
            if items is not None:
                check_ids(items, f"stage '{stage.name}'", set())
            return self.results.put(
                Result(
                    key=key,
                    stage=stage.name,
                    version=stage.version,
                    deterministic=stage.deterministic,
                    item=item.id,
                    attempt=attempt,
                    items=items,
                    rejected=outcome if isinstance(outcome, Rejected) else None,
                    notes=tuple(bench.notes),
                    sounds=tuple(bench.kept),
                    wall=round(wall, 6),
                    cpu=round(cpu, 6),
                )
            )
        except EnvironmentProblem:
            raise
        except SoundDamaged as error:
            raise _Failed(stage.name, _expected(error, error.digest)) from None
        except FloorbenchError as error:
            raise _Failed(stage.name, _expected(error)) from None
        except Exception as error:
            if isinstance(error, OSError) and stops_the_build(error):
                path = Path(str(error.filename or self.folder.path))
                raise refused(error, path) from None
            raise _Failed(stage.name, _unexpected(error)) from None


class _Missing(Exception):
    """The cache does not hold it."""


class _Failed(Exception):
    def __init__(self, stage: str, failure: Failure) -> None:
        self.stage = stage
        self.failure = failure


def _expected(error: FloorbenchError, damaged: str | None = None) -> Failure:
    file = error.where.file if error.where is not None else None
    place = f"{error.where}: " if file else ""  # the item is named beside it anyway
    return Failure(code=error.code, what=place + error.what, damaged=damaged)


def _unexpected(error: Exception) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    trace = tuple(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames)
    text = str(error).strip().splitlines()
    what = type(error).__name__ + (f": {text[0][:300]}" if text else "")
    return Failure(code=None, what=what, trace=trace)


def fresh_from(steps: Sequence[Step], stage: str | None) -> frozenset[str]:
    """Return the names of a stage and of all that come after it.

    Raises
    ------
    DataError
        ``FB851`` when there is no such stage.
    """
    names = [s.name for step in steps for s in stages_of(step)]
    if stage is None:
        return frozenset()
    if stage not in names:
        from floorbench.errors import did_you_mean

        near = did_you_mean(stage, names)
        raise DataError(
            "FB851",
            f"there is no stage '{stage}'",
            hint=f"did you mean '{near}'?" if near else f"stages: {', '.join(names)}",
        )
    return frozenset(names[names.index(stage) :])
