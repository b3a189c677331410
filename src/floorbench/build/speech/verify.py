"""The stage that checks what was said (see :mod:`floorbench.build.speech.gate`).

Source
------
CoDeTT, stage C: verification by a recogniser, another try for what it rejects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from floorbench.audio.vad import Vad
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, made
from floorbench.build.speech import gate, scoring
from floorbench.build.speech.gate import Thresholds, Verdict
from floorbench.build.speech.providers import ASR, facts_of
from floorbench.core.sample import JsonValue


class Verify:
    """Check what was said.

    Adds the field ``checks``: a row per checked track with the rule that decided and its figures.

    Parameters
    ----------
    asr : ASR
    vad : Vad or None
        For short utterances and for tracks that must hold no speech.
    thresholds : Thresholds
    gate_history : bool
        Whether the history is checked as well as the target.
    measure : callable
        Error rates of a transcript against the text.
    """

    name = "verify"
    version = 1

    def __init__(
        self,
        *,
        asr: ASR,
        vad: Vad | None = None,
        thresholds: Thresholds | None = None,
        gate_history: bool = False,
        measure: gate.Measure = scoring.errors_of,
    ) -> None:
        self._asr = asr
        self._vad = vad
        self._thresholds = thresholds or Thresholds()
        self._gate_history = gate_history
        self._measure = measure
        self.deterministic = asr.can.deterministic

    def settings(self) -> Mapping[str, JsonValue]:
        """Return recogniser, VAD and thresholds."""
        return {
            "asr": dict(self._asr.identity),
            "vad": None if self._vad is None else self._vad.name,
            "thresholds": asdict(self._thresholds),
            "gate_history": self._gate_history,
            "short": gate.SHORT,
        }

    def start(self) -> None:
        """Load the VAD; the recogniser loads with the first clip that is not in the cache."""
        if self._vad is not None:
            self._vad.load()

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Check one dialogue; the first track that fails rejects it."""
        checks: list[JsonValue] = []
        rows = cast(Sequence[Mapping[str, Any]], item.fields.get("speech") or ())
        for row in rows:
            if row["track"] != "target" and not self._gate_history:
                continue
            verdict = self._judge(row, item, bench)
            bench.note("recogniser", track=row["track"], **facts_of(self._asr.identity))
            if not verdict.passed:
                detail = f"{row['track']}: {row['text']!r} heard as {verdict.heard!r}"
                return Rejected(reason=verdict.reason, detail=f"{detail}; {_figures(verdict)}")
            checks.append({"track": row["track"], **_row(verdict)})
        spoken = {row["track"] for row in rows}
        if self._vad is not None and "target" in item.audio and "target" not in spoken:
            audio, hertz = bench.load(item.audio["target"])
            verdict = gate.as_non_speech(audio, hertz, vad=self._vad, thresholds=self._thresholds)
            if not verdict.passed:
                return Rejected(reason=verdict.reason, detail=f"target: {_figures(verdict)}")
            checks.append({"track": "target", **_row(verdict)})
        return made(item.having(checks=checks))

    def _judge(self, row: Mapping[str, Any], item: Item, bench: Bench) -> Verdict:
        audio, hertz = bench.load(item.audio[row["track"]])
        text, language = str(row["text"]), str(row["language"])
        phonemes = gate.phonemes_of(text, language, row["phonemes"])
        if phonemes < gate.SHORT:
            return gate.by_short_rules(
                audio,
                hertz,
                text=text,
                language=language,
                phonemes=phonemes,
                asr=self._asr,
                vad=self._vad,
            )
        if not row["in_band"]:
            figures = {"rate": row["rate"], "unit": row["rate_unit"]}
            return Verdict(passed=False, rule="rate", reason="rate", figures=figures)
        return gate.by_transcript(
            audio,
            hertz,
            text=text,
            language=language,
            asr=self._asr,
            thresholds=self._thresholds,
            shorter=_without_last(row) if row["said"] != row["text"] else None,
            measure=self._measure,
        )


def _without_last(row: Mapping[str, Any]) -> str | None:
    """Return what is heard without its last word; nothing of use where few words are left."""
    kept = [word["text"] for word in row["words"]][:-1]
    return ("" if row["language"] == "zh" else " ").join(kept) if len(kept) >= 3 else None


def _figures(verdict: Verdict) -> str:
    return ", ".join(f"{k} {v}" for k, v in verdict.figures.items() if v is not None)


def _row(verdict: Verdict) -> dict[str, JsonValue]:
    return {"rule": verdict.rule, "heard": verdict.heard, **verdict.figures}
