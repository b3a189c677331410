"""The recipe ``codett``: dialogues, speech, verification, soundscape, recordings, consolidation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

from floorbench.audio.vad import SileroVad
from floorbench.build.codett import layout, provenance
from floorbench.build.codett.consolidate import Balance, Split
from floorbench.build.codett.stages import Lines, NonSpeech, Only, OnlyGather, Speakers
from floorbench.build.pipeline.recipes import fill
from floorbench.build.pipeline.report import Shown
from floorbench.build.pipeline.stage import Export, Item, Retried, Stage, Step, Store, Work
from floorbench.build.recordings.candidates import MiningRules
from floorbench.build.recordings.mine import Mine, Reviewed, sessions_of
from floorbench.build.sound.figures import figures_of, label_name, records_of
from floorbench.build.sound.measures import Measure
from floorbench.build.sound.pools import FREE_LICENCES
from floorbench.build.sound.soundscape import CLEAN, TARGET, Soundscape
from floorbench.build.speech import assets, babble
from floorbench.build.speech.gate import Thresholds
from floorbench.build.speech.making import make_aligners, make_asr, make_tts
from floorbench.build.speech.synthesise import Synthesise
from floorbench.build.speech.verify import Verify
from floorbench.build.speech.voices import KOKORO, casts_of
from floorbench.build.text.dialogue import LANGUAGES, seeds
from floorbench.build.text.llm import LlmJudge, LlmWrite
from floorbench.build.text.models import chat_model
from floorbench.build.text.similarity import NearDuplicates
from floorbench.build.text.writer import Judge, Write
from floorbench.core.sample import JsonValue
from floorbench.datasets.codett_labels import INTENTS, LABELS
from floorbench.errors import UsageError

DEFAULTS: dict[str, JsonValue] = {
    "per_label": 4,
    "spare": 0.25,
    "languages": list(LANGUAGES),
    "labels": list(LABELS),
    "writer": {"service": "grammar"},
    "judge": {},
    "tts": {"provider": "kokoro"},
    "asr": {"provider": "whisper"},
    "aligners": [],
    "voices": {},
    "attempts": 3,
    "gate_history": False,
    "wer": Thresholds().wer,
    "syllables": Thresholds().syllables,
    "noise": "",
    "babble": "",
    "licences": [*FREE_LICENCES, babble.LICENCE],
    "scenes": {},
    "telephone": "",
    "real": "",
    "reader": "",
    "verdicts": "",
    "mining": {},
    "most": 20,
    "splits": {"test": 1.0},
}
"""Every setting with its default; an empty text is not set."""

DRAFT = {
    "status": "a draft: rules over who spoke when have proposed these labels, and nobody has"
    " heard them yet; `floorbench review` gives the verdicts"
}


WRITTEN = "label"
"""The field that only items have whose dialogue was ordered, not mined."""


class CodettRecipe:
    """Six stages, from scenario, language and topic to the released layout.

    A. ``write`` and ``judge-rules``, then ``near-duplicates``: dialogues from sentences.
    B, C. ``synthesise`` and ``verify``: speech, and the recogniser that must agree; another try
    changes speed and voice.
    D. ``soundscape`` and ``non-speech``: rooms, babble, noise, levels, telephone; ``measure``.
    E. ``mine`` and ``reviewed``: candidates of real recordings that people have accepted. As long
    as there are no verdicts, the candidates alone are the dataset: a draft to review.
    F. ``balance``, ``split``, and the export with its data card.

    More dialogues are written than are kept (``spare``), so that rejects do not leave a label
    short.

    Source
    ------
    CoDeTT, section 4.1.
    """

    name = "codett"
    presets: Mapping[str, Mapping[str, JsonValue]] = {
        "tiny": {"per_label": 1, "spare": 1.0},
        "small": {"per_label": 4, "spare": 0.5},
        "medium": {"per_label": 20, "spare": 0.15},
    }
    factors: ClassVar[Mapping[str, float]] = {
        "write": 0.002,
        "judge-rules": 0.002,
        "near-duplicates": 0.001,
        "lines": 0.001,
        "synthesise": 2.8,
        "verify": 1.3,
        "speakers": 0.001,
        "soundscape": 0.02,
        "non-speech": 0.002,
        "measure": 0.005,
        "balance": 0.001,
        "split": 0.001,
    }
    """Processor seconds an item took on a core of an AMD EPYC in a `medium` build (644 items)."""

    def __init__(self) -> None:
        self._chosen: dict[str, Any] = dict(DEFAULTS)

    def work(self, settings: Mapping[str, JsonValue]) -> Work:
        """Return what is made and how.

        Raises
        ------
        UsageError
            FB851 for a setting, FB884 for a scene, FB885 for a mining rule.
        EnvironmentProblem
            FB907 when voices, recogniser, noise or babble are not there.
        """
        chosen = self._chosen = _checked(fill(settings, DEFAULTS))
        if chosen["real"] and not chosen["verdicts"]:
            mine, sessions = _mining(chosen)
            measured = (mine, Measure(tracks=(TARGET,)))
            return Work(seeds=tuple(sessions), steps=measured, sources=_sources(chosen))
        where = assets.folder()
        noise = Path(chosen["noise"]) if chosen["noise"] else assets.voice_folder(where) / "noise"
        talk = Path(chosen["babble"]) if chosen["babble"] else babble.babble_folder(where)
        assets.present(*_needed(chosen, where, noise=noise, talk=talk))
        limits = Thresholds(wer=chosen["wer"], syllables=chosen["syllables"])
        speech = _speech(chosen, where, limits)
        sound = _sound(chosen, limits, noise=noise, talk=talk)
        writer, judge = _authors(chosen)
        steps: list[Step] = [
            Retried(
                maker=Only(writer, having=WRITTEN), checker=Only(judge, having=WRITTEN), attempts=2
            ),
            OnlyGather(NearDuplicates(), having=WRITTEN),
            Only(Lines(), having=WRITTEN),
        ]
        start = list(_written(chosen))
        if chosen["real"]:
            mine, sessions = _mining(chosen)
            start += sessions
            steps.append(Only(mine, having="session"))
        if chosen["verdicts"]:
            steps.append(Reviewed(verdicts=Path(chosen["verdicts"])))
        steps += [
            speech,
            Speakers(),
            sound,
            Measure(tracks=(CLEAN, TARGET)),
            Balance(per_label=chosen["per_label"]),
            Split(shares=chosen["splits"]),
        ]
        return Work(seeds=tuple(start), steps=tuple(steps), sources=_sources(chosen))

    def export(self, items: Sequence[Item], store: Store, out: Export) -> None:
        """Write the released layout, with statistics and data card."""
        if not any("split" in item.fields for item in items):
            about = {**DRAFT, "recordings": provenance.real(items)}
            layout.write(items, out, title="Candidates for review", provenance=about)
            return
        about = provenance.of(items, self._chosen)
        layout.write(items, out, title="A CoDeTT set", provenance=about)

    def shown(self, items: Sequence[Item]) -> Shown:
        """Return the distributions per label, as figures where the extra ``report`` is."""
        records = records_of(items)
        figures = figures_of(
            records,
            order=[label_name(intent.state, intent.scenario) for intent in INTENTS],
            of="Sound of the targets",
            between="the soundscape; speaking rate: before and after stretching",
        )
        return Shown(figures=figures, measured={"sound": records, **layout.statistics(items)})


def _written(chosen: Mapping[str, Any]) -> tuple[Item, ...]:
    count = chosen["per_label"] + math.ceil(chosen["per_label"] * chosen["spare"])
    return seeds(count=count, languages=chosen["languages"], labels=chosen["labels"])


def _needed(chosen: Mapping[str, Any], where: Path, *, noise: Path, talk: Path) -> Iterator[Path]:
    """Yield the folders of our own assets that these settings use."""
    if not chosen["noise"]:
        yield noise
    if not chosen["babble"]:
        yield talk
    if chosen["tts"].get("provider") == "kokoro":
        yield assets.voice_folder(where)
    if chosen["asr"] == DEFAULTS["asr"]:
        yield assets.whisper_folder(where)


def _speech(chosen: Mapping[str, Any], where: Path, limits: Thresholds) -> Retried:
    pools = {**KOKORO, **chosen["voices"]}
    several = len(chosen["splits"]) > 1
    said = Synthesise(
        tts=make_tts(chosen["tts"], cache=where),
        pools=pools,
        casts={k: casts_of(v) for k, v in pools.items()} if several else None,
        aligners=make_aligners(chosen["aligners"]),
        gate_history=chosen["gate_history"],
        sample_rate=16_000,
    )
    checked = Verify(
        asr=make_asr(chosen["asr"], cache=where),
        vad=SileroVad(),
        thresholds=limits,
        gate_history=chosen["gate_history"],
    )
    return Retried(
        maker=Only(said, having=WRITTEN),
        checker=Only(checked, having=WRITTEN),
        attempts=chosen["attempts"],
    )


def _sound(chosen: Mapping[str, Any], limits: Thresholds, *, noise: Path, talk: Path) -> Retried:
    scene = Soundscape(
        noise=noise,
        babble=talk,
        licences=tuple(chosen["licences"]),
        changes=chosen["scenes"],
        telephone=chosen["telephone"] or None,
    )
    checked = NonSpeech(vad=SileroVad(), thresholds=limits)
    return Retried(maker=scene, checker=checked, attempts=chosen["attempts"])


def _authors(chosen: Mapping[str, Any]) -> tuple[Stage, Stage]:
    """Return writer and judge: from sentences and rules, or two different models."""
    writer = dict(chosen["writer"])
    if writer == {"service": "grammar"} and not chosen["judge"]:
        return Write(), Judge()
    if not chosen["judge"]:
        raise UsageError(
            "FB851",
            "a writing model needs another model as judge",
            hint="""--set 'judge={"service": "openai", "model": "NAME"}""",
        )
    judge = chat_model(**chosen["judge"])
    if writer.get("service") == "grammar":
        return Write(), LlmJudge(model=judge)
    model = chat_model(**writer)
    return LlmWrite(model=model), LlmJudge(model=judge, writer=model)


def _sources(chosen: Mapping[str, Any]) -> tuple[Path, ...]:
    return tuple(Path(chosen[name]) for name in ("real", "noise", "babble") if chosen[name])


def _mining(chosen: Mapping[str, Any]) -> tuple[Mine, list[Item]]:
    path, reader = Path(chosen["real"]), chosen["reader"] or None
    known = {f.name for f in fields(MiningRules)}
    for name in chosen["mining"]:
        if name not in known:
            raise UsageError("FB885", f"there is no mining rule {name!r}")
    mine = Mine(
        path=path, reader=reader, rules=MiningRules(**chosen["mining"]), most=chosen["most"]
    )
    found = sessions_of(path, reader=reader).ids
    return mine, [
        Item(id=f"session-{number:05d}", fields={"session": name})
        for number, name in enumerate(found)
    ]


def _checked(chosen: dict[str, Any]) -> dict[str, Any]:
    for name, least in (("per_label", 1), ("attempts", 1), ("most", 1), ("spare", 0)):
        if chosen[name] < least:
            raise UsageError("FB851", f"setting '{name}' is {chosen[name]}; it is {least} or more")
    for name, known in (("languages", LANGUAGES), ("labels", LABELS)):
        wrong = [value for value in chosen[name] if value not in known]
        if wrong or not chosen[name]:
            raise UsageError(
                "FB851", f"setting '{name}' has {wrong or 'nothing'}", hint=f"of {', '.join(known)}"
            )
        chosen[name] = list(dict.fromkeys(chosen[name]))
    return chosen
