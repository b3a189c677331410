"""Run records of older schema versions: one function per step, applied in order.

``MIGRATIONS[n]`` turns the plain JSON of schema ``n`` into that of schema ``n + 1``. A change of
:class:`~floorbench.run.store.RunRecord` that older files do not satisfy raises ``SCHEMA`` by one,
adds its step here and leaves a fixture of the old form in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from floorbench.errors import DataError, Place

SCHEMA = 1

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: Mapping[int, Migration] = {}


def migrate(
    record: Any,
    *,
    where: Place,
    target: int = SCHEMA,
    steps: Mapping[int, Migration] = MIGRATIONS,
) -> dict[str, Any]:
    """Bring a plain run record to schema ``target``.

    Parameters
    ----------
    record : object
        The parsed JSON.
    where : Place
        For messages.
    target : int
    steps : mapping of int to callable
        Brings a record of that schema to the next.

    Raises
    ------
    DataError
        ``FB505`` when it carries no schema number, ``FB506`` when the number is newer than
        ``target`` or a step is missing.
    """
    schema = record.get("schema") if isinstance(record, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise DataError("FB505", "carries no schema number", where=where)
    if schema > target:
        raise DataError("FB506", f"has schema {schema}, known up to {target}", where=where)
    while schema < target:
        step = steps.get(schema)
        if step is None:
            raise DataError("FB506", f"has schema {schema}, which has no migration", where=where)
        record = step(record)
        schema += 1
        record["schema"] = schema
    return dict(record)
