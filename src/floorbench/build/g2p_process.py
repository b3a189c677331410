"""Letters to sounds in a process of its own: JSON lines in, JSON lines out.

The English rules come from espeak-ng through phonemizer, both GPL-3. This module is the only
place that loads them, and it does so only when it runs as a program; floorbench's own process
talks to it over a pipe through :class:`PhonemeClient` and never imports them. English stays in
espeak's symbols: the voice swallowed many a word *I* when they were merged into misaki's. Mandarin
goes through misaki (Apache-2.0) in the same process, because its dictionaries are heavy.

A request is ``{"lang": "en-us" | "en-gb" | "zh", "text": ...}`` and optionally ``"prefix"``, a
beginning of the text; the answer is ``{"phonemes": ..., "prefix_groups": n | null}`` where the
groups are the space-separated parts of ``phonemes`` that belong to the prefix.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from floorbench.errors import DataError, EnvironmentProblem, missing_extra

MARKS = ",.?!;:"


class PhonemeClient:
    """Keep one phoneme process open and ask it line by line.

    Raises
    ------
    EnvironmentProblem
        FB401 when a speech package is missing, FB902 when the process ends.
    """

    def __init__(self) -> None:
        root = str(Path(__file__).parents[2])
        others = os.environ.get("PYTHONPATH")
        path = os.pathsep.join([root, others] if others else [root])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "floorbench.build.g2p_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"PYTHONPATH": path},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait(timeout=30)

    def ask(self, *, lang: str, text: str, prefix: str | None = None) -> tuple[str, int | None]:
        """Return the phonemes of ``text`` and the number of groups that its prefix fills."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise EnvironmentProblem("FB902", "the phoneme process has no pipes")
        try:
            stdin.write(json.dumps({"lang": lang, "text": text, "prefix": prefix}) + "\n")
            stdin.flush()
        except BrokenPipeError:
            pass
        line = stdout.readline()
        if not line:
            raise EnvironmentProblem("FB902", f"the phoneme process stopped at {text!r}")
        answer = json.loads(line)
        if "missing" in answer:
            raise missing_extra(answer["missing"], "build")
        if "error" in answer:
            raise DataError("FB903", f"no phonemes for {text!r}: {answer['error']}")
        return answer["phonemes"], answer["prefix_groups"]


def shared_groups(full: list[str], prefix: list[str], rest: list[str]) -> int | None:
    """Return how many groups of ``full`` the prefix fills, or ``None`` when they do not line up.

    The groups of the prefix and of the rest, each converted alone, must add up to those of the
    whole, or two words melted across the boundary. The last word of a prefix may sound different
    there (*the*, *to*), so it need not be equal; every earlier group must be, stress and
    punctuation aside.

    Examples
    --------
    >>> shared_groups(["ə", "bˈʊk", "fɚ", "mˌiː"], ["ə", "bˈʊk", "fˈɔːɹ"], ["mˌiː"])
    3
    >>> shared_groups(["wˈʌn", "əvðə", "bˈɛst"], ["wˈʌn", "ˈʌv"], ["ðə", "bˈɛst"]) is None
    True
    """

    def bare(group: str) -> str:
        return group.strip(MARKS).replace("ˈ", "").replace("ˌ", "")

    count = len(prefix)
    if not 0 < count < len(full) or count + len(rest) != len(full):
        return None
    same = all(bare(a) == bare(b) for a, b in zip(full[: count - 1], prefix[:-1], strict=True))
    return count if same else None


def _english(lang: str) -> Callable[[str], str]:
    import espeakng_loader
    from phonemizer.backend import EspeakBackend
    from phonemizer.backend.espeak.wrapper import EspeakWrapper

    EspeakWrapper.set_library(espeakng_loader.get_library_path())
    EspeakWrapper.set_data_path(espeakng_loader.get_data_path())
    backend = EspeakBackend(lang, preserve_punctuation=True, with_stress=True)

    def phonemes(text: str) -> str:
        return cast(str, backend.phonemize([text])[0])

    return phonemes


def _mandarin() -> Callable[[str], str]:
    import logging

    import jieba
    from misaki.zh import ZHG2P

    jieba.setLogLevel(logging.ERROR)
    convert = ZHG2P()

    def phonemes(text: str) -> str:
        return cast(str, convert(text)[0])

    return phonemes


class _Speaker:
    def __init__(self) -> None:
        self._converters: dict[str, Callable[[str], str]] = {}

    def _convert(self, lang: str, text: str) -> str:
        if lang not in self._converters:
            self._converters[lang] = _mandarin() if lang == "zh" else _english(lang)
        return " ".join(self._converters[lang](text).split())

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        lang, text, prefix = request["lang"], request["text"], request["prefix"]
        if prefix is None:
            return {"phonemes": self._convert(lang, text), "prefix_groups": None}
        head = self._convert(lang, prefix)
        tail = self._convert(lang, text[len(prefix) :])
        if lang != "zh":
            full = self._convert(lang, text)
            rest = [group for group in tail.split(" ") if group not in MARKS]
            count = shared_groups(full.split(" "), head.split(" "), rest)
            if count is not None:
                return {"phonemes": full, "prefix_groups": count}
        # Parts converted one by one and joined: the boundary is certain.
        joint = "" if tail[0] in MARKS else " "
        return {"phonemes": f"{head}{joint}{tail}", "prefix_groups": len(head.split(" "))}


def _serve() -> None:
    speaker = _Speaker()
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for line in sys.stdin:
        try:
            answer = speaker.answer(json.loads(line))
        except ImportError as error:
            answer = {"missing": str(error.name)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):  # who asked is gone
        _serve()
