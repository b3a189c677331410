"""ECHO: does a system use context, or does it always give way? Matched-contrast pairs.

The same words are an interruption (give up the floor), a backchannel or off-talk (keep it),
depending on what was said before. Accuracy is scored per role on samples; what counts is the pair:
both members right. Constant policies are printed beside every result.

Streams are scored in the window ``[onset, min(insertion end + tail, planned end))``, at a tail of
0 and of 1 s. Systems that give one answer per sample have no window.

What is shown depends on what a system declares: a stream gets both channels, step by step; a
system that takes audio gets the user channel up to the end of the insertion, the history and the
spoken prefix; a text system gets history, spoken prefix, insertion and the question.

Source
------
ECHO, sections 2 and 4.

Deviations
----------
The paper does not say what becomes of missing predictions; here they are wrong and their pairs
fail. The planned end of the utterance bounds the window. Group is the resampling unit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from floorbench.core.prediction import Decision
from floorbench.core.sample import AudioRef, Observation, Question, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.time import Seconds
from floorbench.core.vocab import MissingPolicy, Role
from floorbench.datasets.echo_tables import ACTION_OF, CONTRASTS, ROLES
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import DueItem, Measure, Scored
from floorbench.metrics.inputs import check_choice
from floorbench.metrics.latency import ANSWERED, CENSORED, MISSED
from floorbench.tasks import echo_answers
from floorbench.tasks.echo_answers import ACTIONS, Said, meaning, role_of, three_way, times_of
from floorbench.tasks.echo_cells import PAIRS, SAMPLES, Cells
from floorbench.tasks.echo_pairs import PairUnits
from floorbench.tasks.units import Units, language_of

VERSION = "1"
TAILS = (0.0, 1.0)
PROMPTS = Path(__file__).parent / "prompts"
LANGUAGES = ("en", "zh")


class EchoTask:
    """The ECHO protocol.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        How abstained, invalid, failed, timed-out and absent predictions enter the scores.
    floor : mapping of str to str
        Meaning of native labels that no table knows, each ``yield`` or ``keep``; needed for
        Easy Turn's ``wait``.
    prompt : str
        Version of the question's texts.
    languages : sequence of str
        Languages that the data may have; never pooled.

    Raises
    ------
    UsageError
        ``FB103`` for a value outside these.
    """

    def __init__(
        self,
        *,
        missing: str = "wrong",
        floor: Mapping[str, str] | None = None,
        prompt: str = "v1",
        languages: Sequence[str] = ("zh", "en"),
    ) -> None:
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._floor = echo_answers.as_mapping(floor or {})
        self._languages = tuple(languages)
        self._prompt = prompt
        if isinstance(languages, str) or not self._languages:
            raise UsageError("FB103", f"languages={languages!r} is not a list of languages")
        self.spec = TaskSpec(
            name="echo",
            version=VERSION,
            labels=("yield", "keep"),
            parameters={
                "missing": self._missing,
                "floor": self._floor,
                "tails": list(TAILS),
                "languages": list(self._languages),
                "label_maps": echo_answers.VERSION,
                "prompt": prompt,
                "prompt_files": prompt_hashes(prompt),
                "cluster": "group",
                "strata": "language x group type",
            },
            source="ECHO (2026), sections 2 and 4",
        )

    # ---- what a system sees ------------------------------------------------------------------

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the only condition.

        Raises
        ------
        UsageError
            ``FB221`` for a declared label that has no meaning here.
        """
        echo_answers.check_declared(system, self._floor)
        return self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Show what a system's declaration asks for; everything when no system is named."""
        if condition not in self.spec.conditions:
            raise DataError("FB222", f"there is no condition '{condition}'")
        shown = replace(
            sample.observation, question=question(sample.observation.language, self._prompt)
        )
        if system is None:
            return shown
        if system.streaming_step is not None:
            words = shown.words if "words" in system.modalities else ()
            return replace(shown, text=None, spoken_prefix=None, words=words, question=None)
        if "audio" in system.modalities:
            end = times_of(sample).insertion_end
            user = shown.channels.get(Role.USER)
            channels: dict[Role, AudioRef] = {}
            if user is not None:
                channels[Role.USER] = user.narrow(cutoff=end)
            text = shown.text if "text" in system.modalities else None
            return replace(shown, channels=channels, cutoff=end, words=(), text=text)
        return replace(shown, channels={}, words=(), cutoff=None)

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether the system declares the sample's language."""
        return system.languages is None or self._language(sample) in system.languages

    def gold(self, sample: Sample) -> Decision:
        """Return the sample's floor action."""
        return Decision(label=ACTION_OF[role_of(sample)])

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        return echo_answers.problem_of(decision, declared=self._floor)

    def unread(self, decision: Decision, system: SystemSpec) -> str | None:
        """Say why a known label means nothing from this system, or return ``None``."""
        return echo_answers.unread(decision, system, self._floor)

    # ---- scoring -----------------------------------------------------------------------------

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return sample units and pair units.

        Sample columns: ``gold`` and ``predicted`` actions at a tail of 0, ``predicted_tail1`` and
        ``outcome_tail1`` at 1 s; ``role`` and ``predicted_role``; ``language``, ``stream`` (0/1),
        ``latency``, ``status`` (at tail 1). Pair columns: ``contrast``, ``language``, and for both
        members and both tails what the pair metrics read.
        """
        units = Units(
            vocab={
                "gold": ACTIONS,
                "predicted": ACTIONS,
                "predicted_tail1": ACTIONS,
                "role": ROLES,
                "predicted_role": ROLES,
                "language": self._languages,
            },
            numbers=("outcome_tail1", "stream", "latency", "status"),
        )
        pairs = PairUnits(languages=self._languages, actions=ACTIONS, roles=ROLES)
        for sample, condition, trial, prediction in items:
            if not self.due(sample, system):
                continue
            role, times = role_of(sample), times_of(sample)
            said = [
                meaning(prediction, times=times, system=system, tail=tail, declared=self._floor)
                for tail in TAILS
            ]
            stream = prediction is not None and bool(prediction.decision.events)
            latency, status = _latency(said[-1], times.end(TAILS[-1]) - times.insertion_start)
            units.add(
                sample,
                condition,
                outcome=said[0].outcome,
                labels={
                    "gold": ACTION_OF[role],
                    "predicted": said[0].action,
                    "predicted_tail1": said[1].action,
                    "role": role,
                    "predicted_role": said[0].role,
                    "language": self._language(sample),
                },
                numbers={
                    "outcome_tail1": float(said[1].outcome),
                    "stream": float(stream),
                    "latency": latency,
                    "status": float(status),
                },
            )
            pairs.add(sample, trial, role, said)
        return {SAMPLES: units.scored(), PAIRS: pairs.scored()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return every cell, per language and tail."""
        streams = system.streaming_step is not None or bool(scored[SAMPLES].column("stream").any())
        return Cells(
            samples=scored[SAMPLES],
            pairs=scored[PAIRS],
            system=system,
            languages=self._languages,
            contrasts=tuple(CONTRASTS.values()),
            missing=self._missing,
            streams=streams,
            three_way=three_way(system) and not streams,  # streams act, they name no role
        ).all()

    def _language(self, sample: Sample) -> str:
        return language_of(sample, self._languages)


def _latency(said: Said, window: Seconds) -> tuple[float, int]:
    """Return latency and status of a sample at the widest tail.

    An early yield keeps its negative value. Without a yield the event is missed when the window
    was heard to its end, else censored at what was heard.
    """
    if said.latency is not None and said.latency < window:
        return said.latency, ANSWERED
    if said.watched is not None and said.watched < window - 1e-9:
        return max(said.watched, 0.0), CENSORED
    return 0.0, MISSED


@cache
def question(language: str, version: str) -> Question:
    """Return the question for text systems; English for a language without its own text."""
    known = language if language in LANGUAGES else LANGUAGES[0]
    text = (PROMPTS / f"echo-{version}" / f"question.{known}.txt").read_text(encoding="utf-8")
    return Question(text=text.format(options="\n".join(ROLES)).strip(), answers=ROLES)


def prompt_hashes(version: str) -> dict[str, str]:
    """Return the SHA-256 of every text of a version (``FB103`` for an unknown version)."""
    folder = PROMPTS / f"echo-{version}"
    if not folder.is_dir():
        known = sorted(p.name.removeprefix("echo-") for p in PROMPTS.glob("echo-*"))
        raise UsageError("FB103", f"prompt='{version}' is not one of {', '.join(known)}")
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(folder.iterdir())}
