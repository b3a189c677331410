"""``floorbench stimuli cut|lists|stats|plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import Form, ReaderSettings, open_given
from floorbench.core.words import counted


def cut(
    *sources: Path,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    pause: float,
    max_pause: float,
    backchannel: float,
    shortest: float,
    longest: float,
    tcus: int = 2,
    words: str | None = None,
    turns: str | None = None,
    other: str | None = None,
    speaker: str | None = None,
    audio: Path | None = None,
    channel: str | None = None,
    lead: float = 0.1,
    language: str = "en",
    licence: str = "unknown",
    sample: int | None = None,
    seed: int = 0,
) -> int:
    """Cut stimulus turns with several possible completions out of annotated recordings.

    The sources are annotation files of any format, or one folder of ISIP (ms98) word files.
    Times are seconds.

    Parameters
    ----------
    sources
        Annotation files, or an ms98 folder.
    out
        Folder of the new set.
    pause
        Own silence from which a completion is possible, for example 0.2.
    max_pause
        Own silence that ends a turn, for example 2.
    backchannel
        Longest stretch of the other side that does not end the turn, for example 1.
    shortest
        Shortest turn, for example 10.
    longest
        Longest turn, for example 60.
    tcus
        Least number of possible completions, the turn's end included.
    words
        Tier of the speaker's words (annotation files).
    turns
        Tier with one entry per turn.
    other
        Tier of the other side's words; turns are then found by the floor rule.
    speaker
        Who speaks; by default what the tier says.
    audio
        Recording, or a folder of recordings named like the sources.
    channel
        Channel of the recording, counted from 0, or mix.
    lead
        Seconds of the recording kept before a turn.
    language
        Language of the turns.
    licence
        What the recordings may be used for.
    sample
        Draw so many turns.
    seed
        Seed of the draw.
    """
    from floorbench.build import stimuli
    from floorbench.build.stimuli_turns import TurnRules
    from floorbench.errors import UsageError

    rules = TurnRules(
        pause=pause,
        max_pause=max_pause,
        backchannel=backchannel,
        shortest=shortest,
        longest=longest,
        tcus=tcus,
    )
    if len(sources) == 1 and sources[0].is_dir():
        recordings = list(stimuli.ms98(sources[0], rules=rules, audio=audio))
    else:
        if not sources or words is None:
            raise UsageError(
                "FB271", "annotation files need --words TIER", hint="or give one ms98 folder"
            )
        recordings = [
            stimuli.marked(
                source,
                words=words,
                turns=turns,
                other=other,
                rules=rules,
                audio=audio,
                channel=_channel(channel),
                speaker=speaker,
            )
            for source in sources
        ]
    report = stimuli.cut(
        recordings,
        out,
        rules=rules,
        lead=lead,
        language=language,
        licence=licence,
        sample=sample,
        seed=seed,
    )
    for why, count in sorted(report.left_out.items()):
        console.say(f"left out: {counted(count, 'turn')} ({why})")
    console.say(f"{counted(report.taken, 'turn')}, {report.with_audio} with audio")
    console.data(str(out))
    return 0


def lists(
    stimuli: Path, /, *, gap: float, seed: int, count: int = 2, after_beep: float = 0.5
) -> int:
    """Put the turns of a set into lists: random order, beeps, and a reversed twin of each.

    Parameters
    ----------
    stimuli
        Folder of a set with audio.
    gap
        Seconds of silence between a turn and the next beep, at least 1.
    seed
        Seed of the orders.
    count
        Number of lists; each gets a reversed twin.
    after_beep
        Seconds of silence between a beep and its turn.
    """
    from floorbench.build.stimuli_lists import make_lists

    made = make_lists(stimuli, count=count, seed=seed, gap=gap, after_beep=after_beep)
    for one in made.lists:
        console.data(f"{one.audio}\t{counted(len(one.items), 'turn')}\t{one.seconds:.1f} s")
    return 0


def stats(stimuli: Path, /, *, form: Form = "text") -> int:
    """Print what the lists of a set hold, beside the paper's Table 1.

    Parameters
    ----------
    stimuli
        Folder of a set.
    form
        Form of the table.
    """
    from floorbench.report import trp_sets

    console.table(trp_sets.table(trp_sets.statistics(stimuli)), form)
    return 0


def plot(
    data: str,
    stimulus: str,
    *runs: Path,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    reader_sets: ReaderSettings = None,
) -> int:
    """Draw one stimulus: when listeners responded, where they agreed, what systems predicted.

    Parameters
    ----------
    data
        Set with listeners: a folder, or starter:trp.
    stimulus
        Id of the stimulus.
    runs
        Run folders of the task trp on this set.
    out
        File to write: .svg, .png, .pdf, .json or .html.
    """
    from floorbench.datasets.trp import TrpSource
    from floorbench.errors import DataError
    from floorbench.report import trp_figure
    from floorbench.report.figures_save import save
    from floorbench.report.stored import Sources, load

    source = open_given(data, None, reader_sets)
    if not isinstance(source, TrpSource):
        raise DataError("FB211", f"'{data}' is no set of within-turn TRPs")
    sources = Sources(data)
    shown = trp_figure.picture(source, stimulus, runs=[load(run, sources) for run in runs])
    console.data(str(save(trp_figure.draw(shown), out)))
    return 0


def _channel(text: str | None) -> int | Literal["mix"] | None:
    from floorbench.errors import UsageError

    if text is None:
        return None
    if text == "mix":
        return "mix"
    if not text.isdecimal():
        raise UsageError("FB103", f"channel '{text}' is neither a number nor mix")
    return int(text)
