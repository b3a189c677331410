"""A key that stands twice in a JSON object is refused by every reader, or we know why not."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from torture.fuzz.registry import TARGETS

from floorbench.errors import FloorbenchError

MEMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][+-]?\d+)?|true|false|null)'
)
_WORDS = "words of a model: read as far as they can be"
_SERVICE = "an answer of a service whose JSON is its own affair"
_CACHE = "a cache of our own: what cannot be read is made again"
LENIENT = {
    "answer-json": _WORDS,
    "answer-dialogue": _WORDS,
    "answer-chosen": _WORDS,
    "answer-rewriter": _WORDS,
    "service-openai-chat": _SERVICE,
    "service-openai-text": _SERVICE,
    "service-ollama": _SERVICE,
    "service-gemini": _SERVICE,
    "service-body": _SERVICE,
    "service-detail": _SERVICE,
    "text-model-config": "a file of a model's makers",
    "packed-interrupted": _CACHE,
    "build-result": _CACHE,
    "web-wave": _CACHE,
    "run-predictions-jsonl": "faults are rows here; see the tests of predictions",
}


def doubled(seed: bytes) -> bytes | None:
    """Return JSON with its first plain member written twice, or ``None`` without one."""
    found = MEMBER.search(seed) if seed.lstrip()[:1] in (b"{", b"[") else None
    return found and seed[: found.start()] + found[0] + b", " + seed[found.start() :]


WRITTEN = {
    name: [text for text in map(doubled, target.seeds()) if text is not None]
    for name, target in TARGETS.items()
}
NAMES = sorted(name for name, texts in WRITTEN.items() if texts)


def test_what_is_lenient_is_there_and_reads_json() -> None:
    assert LENIENT.keys() <= set(NAMES)
    assert len(NAMES) > 50


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LENIENT])
def test_a_key_that_stands_twice_is_refused(name: str, tmp_path: Path) -> None:
    for number, text in enumerate(WRITTEN[name]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(FloorbenchError):
            TARGETS[name].read(text, folder)


@pytest.mark.parametrize("name", sorted(LENIENT))
def test_a_lenient_reader_does_not_break(name: str, tmp_path: Path) -> None:
    for number, text in enumerate(WRITTEN[name]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with suppress(FloorbenchError, *TARGETS[name].refusals):
            TARGETS[name].read(text, folder)
