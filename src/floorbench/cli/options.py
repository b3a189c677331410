"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from floorbench import codec
from floorbench.core.ports import DatasetSource
from floorbench.errors import DataError, UsageError
from floorbench.registry import required_parameters

if TYPE_CHECKING:
    from floorbench.run.ray_cluster import RayOptions

Settings = Annotated[
    list[str] | None,
    Parameter(name=["--set", "-s"], negative=(), help="Parameter of the system, NAME=VALUE."),
]
TaskSettings = Annotated[
    list[str] | None,
    Parameter(name="--task-set", negative=(), help="Parameter of the task, NAME=VALUE."),
]
ReaderSettings = Annotated[
    list[str] | None,
    Parameter(name="--reader-set", negative=(), help="Parameter of the reader, NAME=VALUE."),
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RayWishes:
    """What is said about Ray.

    Parameters
    ----------
    ray_address
        With --executor ray: the cluster, HOST:PORT or ``auto``; started here by default.
    cpus_per_worker
        With --executor ray: cores that a worker reserves and computes with, 1 by default.
    gpus_per_worker
        With --executor ray: GPUs of a worker; 0.25 lets four share one.
    memory_per_worker
        With --executor ray: GiB that a worker reserves.
    place_timeout
        With --executor ray: seconds to wait for a place for a worker, 60 by default.
    """

    ray_address: str | None = None
    cpus_per_worker: float | None = None
    gpus_per_worker: float | None = None
    memory_per_worker: float | None = None
    place_timeout: float | None = None

    def options(self) -> RayOptions | None:
        """Return what was said, or ``None`` when nothing was."""
        said = {
            "address": self.ray_address,
            "cpus": self.cpus_per_worker,
            "gpus": self.gpus_per_worker,
            "memory": self.memory_per_worker,
            "place_timeout": self.place_timeout,
        }
        given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        if not given:
            return None
        from floorbench.run.ray_cluster import RayOptions

        return RayOptions(**given)


NO_WISHES = RayWishes()
Form = Literal["text", "markdown", "latex", "csv", "json"]

# The set that a task is shown on when no data are named.
STARTERS = {"codett": "starter:codett", "echo": "starter:echo", "trp": "starter:trp"}


def settings(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs; a value that is JSON is read as JSON, else as text.

    Raises
    ------
    UsageError
        ``FB103`` for a pair without ``=``, a name given twice, or JSON with a key that stands
        twice in one object.
    """
    out: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or name in out:
            what = "is given twice" if name in out else "is not NAME=VALUE"
            raise UsageError("FB103", f"'{pair}' {what}", hint="for example --set threshold=0.7")
        try:
            out[name] = codec.parse(value) if codec.is_json(value) else value
        except DataError as error:
            raise UsageError("FB103", f"'{pair}': {error.what}") from None
    return out


def check_given(
    factory: Callable[..., Any], given: Mapping[str, Any], *, what: str, option: str
) -> None:
    """Refuse to build something without a parameter that has no default.

    The hint names the option, and what the class says of the parameter in ``hints``.

    Raises
    ------
    UsageError
        ``FB103``.
    """
    missing = [name for name in required_parameters(factory) if name not in given]
    if missing:
        raise UsageError(
            "FB103",
            f"{what} needs its parameter{'s' * (len(missing) > 1)} {', '.join(missing)}",
            hint="; ".join(how_to_give(factory, name, option=option) for name in missing),
        )


def how_to_give(factory: Callable[..., Any], name: str, *, option: str) -> str:
    """Return the option that gives a parameter, and what the class says of its values."""
    said: Mapping[str, str] = getattr(factory, "hints", {})
    return f"{option} {name}=VALUE" + (f": {said[name]}" if name in said else "")


def make_task(name: str, pairs: Sequence[str] | None) -> Any:
    """Build a task from its name and ``--task-set`` pairs.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown task, ``FB103`` for a parameter it does not take or cannot do
        without.
    """
    import inspect

    from floorbench.catalog import TASKS
    from floorbench.errors import did_you_mean

    factory = TASKS.load(name)
    given = settings(pairs)
    known = [n for n in inspect.signature(factory).parameters if n != "self"]
    for parameter in given:
        if parameter not in known:
            near = did_you_mean(parameter, known)
            raise UsageError(
                "FB103",
                f"task '{name}' takes no parameter '{parameter}'",
                hint=f"did you mean '{near}'?" if near else f"known: {', '.join(known)}",
            )
    check_given(factory, given, what=f"task '{name}'", option="--task-set")
    return factory(**given)


def open_data(
    task: str, data: str | None, reader: str | None, reader_sets: Sequence[str] | None = None
) -> DatasetSource:
    """Open the data of a call: a path, ``starter:NAME``, or the task's starter set.

    Raises
    ------
    UsageError
        ``FB103`` when no data are named and the task has no starter set.
    """
    from floorbench.cli import console

    if data is None:
        if task not in STARTERS:
            raise UsageError(
                "FB103",
                f"name the data of '{task}' with --data",
                hint="it has no starter set; --data takes a folder, a file or an address",
            )
        data = STARTERS[task]
        console.say(f"no --data: using the starter set ({data})")
    return open_given(data, reader, reader_sets)


def open_given(
    data: str, reader: str | None, reader_sets: Sequence[str] | None = None
) -> DatasetSource:
    """Open named data, a path or ``starter:NAME``, with parameters for the reader.

    Raises
    ------
    UsageError
        ``FB103`` for a parameter that the reader does not take.
    """
    from floorbench.datasets.open import open_dataset

    where = data if ":" in data else Path(data)
    try:
        return open_dataset(where, reader=reader, **settings(reader_sets))
    except TypeError as error:
        _, unexpected, name = str(error).partition("unexpected keyword argument ")
        if not unexpected:
            raise
        raise UsageError("FB103", f"the reader of '{data}' takes no parameter {name}") from None
