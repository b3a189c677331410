from __future__ import annotations

import pytest

from fake_server import Reply, serving
from floorbench.core.vocab import Outcome
from floorbench.systems.llm import http
from floorbench.systems.llm.http import ask_json, check_url, detail_of, parse
from floorbench.systems.llm.retrying import Refused


def refused(server, timeout=5.0) -> Refused:
    with pytest.raises(Refused) as caught:
        ask_json(server.url, {}, timeout=timeout)
    return caught.value


def test_an_answer():
    with serving([Reply({"a": 1})]) as server:
        assert ask_json(server.url + "/x", {"b": 2}, timeout=5) == {"a": 1}
    assert (server.calls[0].path, server.calls[0].body) == ("/x", {"b": 2})


def test_slow_broken_busy_and_refusing_servers():
    with serving([Reply({}, delay=0.6)]) as server:
        assert refused(server, 0.2).outcome is Outcome.TIMEOUT
    with serving([Reply(raw=b'{"a": ')]) as server:
        assert refused(server).again
    with serving([Reply(raw=b'{"a": ', claim=90)]) as server:
        assert refused(server).again
    with serving([Reply({"error": "busy"}, status=503, headers={"Retry-After": "3"})]) as server:
        found = refused(server)
    assert (found.again, found.wait, found.reason) == (True, 3.0, "the server answered 503: busy")
    with serving([Reply({"error": {"message": "no"}}, status=400)]) as server:
        assert not refused(server).again


def test_an_answer_that_trickles_in_is_late_as_a_whole():
    with serving([Reply([1] * 20, pause=0.1)]) as server:
        found = refused(server, 0.5)
    assert (found.outcome, found.reason) == (Outcome.TIMEOUT, "no answer within 0.5 s")


def test_an_answer_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(http, "LONGEST", 1 << 20)
    with serving([Reply(raw=b" " * (2 << 20))]) as server:
        found = refused(server)
    assert (found.again, found.reason) == (False, "an answer of more than 1 MiB")


def test_a_proxy_is_not_asked_about_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving([Reply([1])]) as server:
        assert ask_json(server.url, timeout=5) == [1]


def test_addresses_lose_their_last_slash():
    assert check_url("host", "http://h:1/v1/") == "http://h:1/v1"


def test_words_of_a_server_are_one_short_line():
    assert detail_of(b"<html>\n" + b"x" * 500).endswith("…")
    assert len(detail_of(b"x" * 500)) == 160
    assert detail_of(b'{"error": {"message": "a\\nb"}}') == "a b"


@pytest.mark.parametrize("body", [b"NaN", b'{"a": Infinity}', b"[-Infinity]"])
def test_a_number_that_json_does_not_have_is_no_answer(body):
    with pytest.raises(Refused, match="not JSON"):
        parse(body)
