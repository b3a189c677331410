"""The key of a service: where it comes from, and that nobody sees it."""

from __future__ import annotations

import gc

import pytest

from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.llm.retrying import Policy, Refused
from floorbench.systems.llm.service import Service

HOME = "https://api.example.com/v1"


def made(**more):
    given = {"model": "m", "base_url": HOME, "home": HOME, "key_env": "MY_KEY", "policy": None}
    return Service(**{**given, **more})


def test_only_the_vendors_own_address_needs_a_key(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(EnvironmentProblem, match=r"FB421 .*MY_KEY"):
        made().key()
    assert made(base_url="http://127.0.0.1:8000/v1").key() == "none"
    monkeypatch.setenv("MY_KEY", "sk-canary")
    assert made().key() == "sk-canary"


def test_the_key_is_taken_out_of_what_a_server_says(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-canary")
    service = made(policy=Policy(timeout=3.0, attempts=2))
    service.key()
    cleaned = service.clean(Refused("bad key sk-canary!", again=False))
    assert cleaned.reason == "bad key <key>!"
    assert service.info.parameters == {
        "base_url": HOME, "model": "m", "timeout": 3.0, "attempts": 2
    }  # fmt: skip
    assert made().clean(Refused("as it was", again=True)).reason == "as it was"


def test_connections_end_with_the_model():
    class Client:
        closed = False

        def close(self):
            Client.closed = True

    service = made()
    service.opened(Client())
    assert not Client.closed
    del service
    gc.collect()
    assert Client.closed


def test_parameters():
    for wrong in ({"model": ""}, {"base_url": "ftp://x"}, {"base_url": "https://u:p@x/v1"}):
        with pytest.raises(UsageError, match="FB513"):
            made(**wrong)
