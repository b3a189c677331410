"""The recipe ``echo``: skeletons, insertions, rewritten contexts, speech, placed overlaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from floorbench.audio.vad import SileroVad
from floorbench.build.echo_recipe import figures, layout
from floorbench.build.echo_recipe.model_rewriter import ModelRewriter
from floorbench.build.echo_recipe.placing import (
    POOLS,
    PlaceOverlap,
    Variants,
    lines_of,
    speech_rows,
)
from floorbench.build.echo_recipe.rewriting import (
    Candidates,
    CheckRewrite,
    EmbeddedRewriter,
    Rewrite,
    Rewriter,
    Skeletons,
)
from floorbench.build.echo_recipe.screening import Match, Screen
from floorbench.build.echo_recipe.texts import FOLDER, LANGUAGES, TYPES, seeds
from floorbench.build.echo_render import LEVEL_DB, RATE
from floorbench.build.pipeline.recipes import fill
from floorbench.build.pipeline.report import Shown
from floorbench.build.pipeline.stage import Export, Item, Retried, Step, Store, Work
from floorbench.build.recordings.mine import Reviewed
from floorbench.build.sound import measures
from floorbench.build.sound.figures import figures_of
from floorbench.build.speech import assets, scoring
from floorbench.build.speech.gate import Thresholds
from floorbench.build.speech.making import make_asr, make_tts
from floorbench.build.speech.providers import ASR, TTS
from floorbench.build.speech.rate import STRETCH, Band
from floorbench.build.speech.scoring import Errors
from floorbench.build.speech.synthesise import Synthesise
from floorbench.build.speech.verify import Verify
from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError
from floorbench.systems.llm.openai_api import KEY, OPENAI
from floorbench.systems.llm.openai_chat import OpenAIChat

BANDS: Mapping[str, Band] = {"en": Band(low=8.0, high=18.0), "zh": Band(low=3.2, high=7.0)}
"""Speaking rates that are aimed at: phonemes, syllables per voiced second."""
DEFAULTS: dict[str, JsonValue] = {
    "groups": 12,
    "spare": 4,
    "languages": list(LANGUAGES),
    "types": list(TYPES),
    "texts": "",
    "rewriter": "",
    "rewriter_url": OPENAI,
    "rewriter_key_env": KEY,
    "rewrites": 3,
    "attempts": 3,
    "gate_assistant": True,
    "wer": Thresholds().wer,
    "syllables": Thresholds().syllables,
    "verdicts": "",
}
"""Every setting with its default; an empty text is not set."""


class EchoRecipe:
    """Matched contrasts, from skeleton dialogues to the neutral ECHO layout.

    1. ``skeletons``: dialogues with a backchannel or off-talk insertion.
    2. ``candidates``: where the insertion may start, and the place that is taken.
    3. ``rewrite`` and ``check-rewrite``: a context for every other role, the insertion unchanged.
    4. ``screen``: lengths, listener responses that everybody uses, near-duplicates.
    5. ``variants``, ``synthesise``, ``verify``: a sample for every role, its lines spoken
       independently, levelled, their rate bounded, and heard by a recogniser.
    6. ``place-overlap``: both tracks by word times, and the listening version of interruptions.
    7. ``reviewed``, ``match`` and the export with its audits.

    Source
    ------
    ECHO, data construction.
    """

    name = "echo"
    presets: Mapping[str, Mapping[str, JsonValue]] = {
        "tiny": {"groups": 4, "spare": 1},
        "small": {"groups": 12, "spare": 4},
        "medium": {"groups": 40, "spare": 6},
    }
    factors: ClassVar[Mapping[str, float]] = {"synthesise": 5.1, "verify": 2.0}
    """Processor seconds per sample, measured with the embedded voice and recogniser."""

    def __init__(self) -> None:
        self._chosen: dict[str, Any] = dict(DEFAULTS)

    def work(self, settings: Mapping[str, JsonValue]) -> Work:
        """Return what is made and how.

        Raises
        ------
        UsageError
            FB851 for a setting, FB831 for more groups than there are texts.
        EnvironmentProblem
            FB907 when voices or recogniser are not there.
        """
        chosen = self._chosen = _checked(fill(settings, DEFAULTS))
        folder = Path(chosen["texts"]) if chosen["texts"] else FOLDER
        tts, asr = self.providers()
        speech = Retried(
            maker=Synthesise(
                tts=tts,
                pools=POOLS,
                bands=BANDS,
                gate_history=chosen["gate_assistant"],
                sample_rate=RATE,
                lines=lines_of,
            ),
            checker=Verify(
                asr=asr,
                vad=SileroVad(),
                thresholds=Thresholds(wer=chosen["wer"], syllables=chosen["syllables"]),
                gate_history=chosen["gate_assistant"],
                measure=self.measure,
            ),
            attempts=chosen["attempts"],
        )
        rewriter = self.rewriter(chosen, folder)
        steps: list[Step] = [
            Skeletons(folder=folder, languages=chosen["languages"]),
            Candidates(),
            Retried(
                maker=Rewrite(rewriter=rewriter),
                checker=CheckRewrite(),
                attempts=chosen["rewrites"],
            ),
            Screen(),
            Variants(),
            speech,
            PlaceOverlap(),
            measures.Measure(tracks=figures.MEASURED),
            Reviewed(verdicts=Path(chosen["verdicts"]) if chosen["verdicts"] else None),
            Match(groups=chosen["groups"], types=chosen["types"]),
        ]
        start = seeds(
            folder=folder,
            languages=chosen["languages"],
            types=chosen["types"],
            groups=chosen["groups"],
            spare=chosen["spare"],
        )
        return Work(seeds=start, steps=tuple(steps))

    def providers(self) -> tuple[TTS, ASR]:
        """Return the embedded voice and recogniser.

        Raises
        ------
        EnvironmentProblem
            FB907 when they are not prepared.
        """
        where = assets.folder()
        assets.present(assets.voice_folder(where), assets.whisper_folder(where))
        return (
            make_tts({"provider": "kokoro"}, cache=where),
            make_asr({"provider": "whisper"}, cache=where),
        )

    def measure(self, text: str, heard: str, language: str) -> Errors:
        """Compare a transcript with the text."""
        return scoring.errors_of(text, heard, language)

    def rewriter(self, chosen: Mapping[str, Any], folder: Path) -> Rewriter:
        """Return who rewrites contexts: the embedded texts, or a model behind an OpenAI API."""
        if chosen["rewriter"]:
            return ModelRewriter(
                model=OpenAIChat(
                    model=chosen["rewriter"],
                    base_url=chosen["rewriter_url"],
                    key_env=chosen["rewriter_key_env"],
                )
            )
        return EmbeddedRewriter(folder=folder, languages=chosen["languages"])

    def export(self, items: Sequence[Item], store: Store, out: Export) -> None:
        """Write the neutral layout with its audits."""
        voices = sorted({str(row["voice"]) for item in items for row in speech_rows(item)})
        layout.write(
            items,
            out,
            recipe={
                **authors(self._chosen),
                "voice_model": "Kokoro-82M v1.0, int8 ONNX (Apache-2.0 weights); synthetic speech",
                "voices": ", ".join(voices),
                "recogniser": "whisper-base through faster-whisper (MIT)",
                "level_db": LEVEL_DB,
                "stretch": list(STRETCH),
            },
            licence=licence(self._chosen),
        )

    def shown(self, items: Sequence[Item]) -> Shown:
        """Return how the insertions sound, per role and language."""
        records = figures.records_of(items)
        drawn = figures_of(
            records, order=figures.ORDER, of="Sound of the insertions", between=figures.BETWEEN
        )
        return Shown(figures=drawn, measured={"sound": records})


def authors(chosen: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return who wrote the dialogues and the contexts of the other roles."""
    own = "dialogues of the user's own; their licence is not known here"
    out: dict[str, JsonValue] = {
        "texts": own if chosen["texts"] else "embedded dialogues (Apache-2.0)"
    }
    if chosen["rewriter"]:
        out["contexts"] = f"rewritten by {chosen['rewriter']}; its terms decide what may be done"
    return out


def licence(chosen: Mapping[str, Any]) -> str:
    """Return the set's licence; nobody here can give one to texts that came from elsewhere."""
    if chosen["texts"] or chosen["rewriter"]:
        return "undecided: see the texts in README.md"
    return "Apache-2.0"


def _checked(chosen: dict[str, Any]) -> dict[str, Any]:
    for name, least in (("groups", 1), ("spare", 0), ("attempts", 1), ("rewrites", 1)):
        if chosen[name] < least:
            raise UsageError("FB851", f"setting '{name}' is {chosen[name]}; it is {least} or more")
    for name, known in (("languages", LANGUAGES), ("types", tuple(TYPES))):
        wrong = [value for value in chosen[name] if value not in known]
        if wrong or not chosen[name]:
            raise UsageError(
                "FB851", f"setting '{name}' has {wrong or 'nothing'}", hint=f"of {', '.join(known)}"
            )
        chosen[name] = list(dict.fromkeys(chosen[name]))
    return chosen
