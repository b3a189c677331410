import importlib

import pytest

from floorbench import catalog

EVERY = [(r.kind, name) for r in catalog.ALL.values() for name in r.entries()]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_catalogued_name_resolves(kind: str, name: str) -> None:
    entry = catalog.ALL[kind].entry(name)
    module, _, attribute = entry.target.partition(":")
    assert callable(getattr(importlib.import_module(module), attribute))
    assert entry.summary
