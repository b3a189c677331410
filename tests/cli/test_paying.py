"""Dry runs ask nothing; a budget needs prices."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, chat, serving
from support.cli_calls import called

PRICES = {
    "date": "2026-03-01",
    "currency": "EUR",
    "models": {"m": {"text_in": 1.0, "text_out": 0.0, "audio_in": 1.0,
                     "audio_tokens_per_second": 10.0}},
}  # fmt: skip


@pytest.fixture
def prices(tmp_path):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(PRICES))
    return str(file)


def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(capsys, prices, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    base = ("run", "codett", "gpt-4o-audio", "--dry-run", "--limit", "3", "--condition", "h1")
    code, out, _ = called(capsys, *base, "--json")
    plain = json.loads(out)
    assert code == 0
    assert (plain["calls"], plain["cost"], plain["answer_tokens"]) == (3, None, 3 * 64)
    assert plain["audio_seconds"] > 1
    assert plain["text_tokens"] > 300
    code, out, _ = called(capsys, *base, "--set", "model=m", "--prices", prices)
    assert code == 0
    assert "cost, prices of 2026-03-01" in out
    assert "EUR" in out


def test_a_budget_stops_a_run_with_the_way_to_go_on(capsys, prices, tmp_path):
    with serving([Reply(chat("<|Dismiss|><|Incomplete|>", prompt=1000))]) as server:
        code, _, err = called(
            capsys, "run", "codett", "prompted-openai", "--set", "model=m",
            "--set", f"base_url={server.url}/v1", "--limit", "5", "--condition", "h0",
            "--budget", "0.0015", "--prices", prices, "--out", str(tmp_path / "runs"),
        )  # fmt: skip
        assert len(server.calls) == 2
    assert code == 3
    assert "FB556 0.0020 of 0.0015 EUR are spent" in err
    assert "--resume" in err


@pytest.mark.parametrize(
    ("argv", "calls", "answer"),
    [
        (["trp", "generate-gpt-4o", "--condition", "expert"], 4, 160),
        (["trp", "yesno-openai", "--set", "model=m"], 8, 1),
        (["trp", "boundary-openai", "--set", "model=m"], 4, 1),
        (["echo", "roles-openai", "--set", "model=m"], 4, 16),
    ],
)
def test_every_system_that_asks_a_service_has_a_dry_run(
    capsys, prices, monkeypatch, argv, calls, answer
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    code, out, _ = called(capsys, "run", *argv, "--dry-run", "--limit", "4", "--json")
    found = json.loads(out)
    assert (code, found["calls"], found["answer_tokens"]) == (0, calls, calls * answer)
    assert found["text_tokens"] > calls * 20


def test_a_budget_stops_prefixes_too(capsys, prices, tmp_path):
    with serving([Reply(chat("{}", prompt=1000, cached=990))]) as server:
        code, _, err = called(
            capsys, "run", "trp", "generate-openai", "--set", "model=m",
            "--set", f"base_url={server.url}/v1", "--limit", "5", "--condition", "expert",
            "--budget", "0.0015", "--prices", prices, "--out", str(tmp_path / "runs"),
        )  # fmt: skip
        assert len(server.calls) == 2
    assert code == 3
    assert "FB556 0.0020 of 0.0015 EUR are spent" in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["prompted-openai", "--set", "model=m", "--budget", "1"], "needs your price file"),
        (["always-dismiss", "--dry-run"], "asks no paid service"),
    ],
)
def test_what_makes_no_sense(capsys, argv, words):
    code, _, err = called(capsys, "run", "codett", *argv, "--limit", "2")
    assert code == 2
    assert words in err
