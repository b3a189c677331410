"""The finished set in the released layout, with its statistics and its data card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from floorbench.build.codett.consolidate import Leak, label_of, leaks
from floorbench.build.pipeline.stage import Export, Item
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import IDLE, INTENTS

SYSTEM_PROMPT = {
    "en": "You are a voice assistant. After each turn decide whether to speak, stop or stay quiet.",
    "zh": "你是一个语音助手。每一轮之后，请判断应当说话、停下还是保持安静。",
}
PUBLISHED_SYN, PUBLISHED_REAL = 500, 500
PUBLISHED_REAL_SCENARIOS = ("Backchannel", "Interruption", "Completion", "Incomplete")

WRITTEN = (
    "## What it is not",
    "",
    "Synthetic speech of written dialogues shows that a pipeline runs and what its stages do.",
    "It does not rank turn detectors: cut words, voices and rooms are easier to tell apart",
    "than those of people.",
    "",
)
"""What the card says of synthetic items; a set of real recordings alone does not need it."""


def audio_name(language: str, digest: str) -> str:
    """Return the path of a track; nothing in it tells the label.

    Examples
    --------
    >>> audio_name("en", "0a1b2c3d4e5f60718293a4b5")
    'audios/EN/0a1b2c3d4e5f60718293.flac'
    """
    return f"audios/{language.upper()}/{digest[:20]}.flac"


class Exchange(NamedTuple):
    """A turn of either side before the target, and where the user's was recorded."""

    user: str
    assistant: str
    audio: str | None


def messages_of(
    *,
    language: str,
    history: Sequence[Exchange],
    state: str,
    text: str,
    audio: str,
    answer: tuple[str, str],
) -> list[dict[str, str]]:
    """Return the messages of one line of the released layout, the gold label last.

    Parameters
    ----------
    language : str
    history : sequence of Exchange
    state, text, audio : str
        Of the target.
    answer : tuple of str
        Action and scenario.
    """
    messages = [{"role": "system", "content": SYSTEM_PROMPT.get(language, SYSTEM_PROMPT["en"])}]
    for turn in history:
        said = {"role": "user", "content": _content(IDLE, turn.user)}
        if turn.audio is not None:
            said["audio"] = turn.audio
        messages += [said, {"role": "assistant", "content": turn.assistant}]
    messages.append({"role": "user", "content": _content(state, text), "audio": audio})
    action, scenario = answer
    messages.append({"role": "assistant", "content": f"<|{action}|><|{scenario}|>"})
    return messages


def _content(state: str, text: str) -> str:
    """Wrap a user turn as the released files do."""
    return f"系统当前状态: <|{state}|> 输入内容：{text}"


def example(item: Item, name: Mapping[str, str]) -> dict[str, Any]:
    """Return one line of the released layout.

    Parameters
    ----------
    item : Item
        With ``language``, ``state``, ``action``, ``scenario``, ``text`` and ``history``, a list of
        objects with ``user`` and ``assistant``.
    name : mapping of str to str
        Path of each track of the item.
    """
    language = str(item.fields["language"])
    messages = messages_of(
        language=language,
        history=[
            Exchange(one["user"], one["assistant"], name.get(f"history-{turn}-user"))
            for turn, one in enumerate(item.fields.get("history") or (), start=1)
        ],
        state=str(item.fields["state"]),
        text=str(item.fields["text"]),
        audio=name["target"],
        answer=(str(item.fields["action"]), str(item.fields["scenario"])),
    )
    return {
        "messages": messages,
        "language": language,
        "id": item.id,
        "dialogue": str(item.fields.get("family") or item.id),
        "split": str(item.fields.get("split", "test")),
    }


def write(items: Sequence[Item], out: Export, *, title: str, provenance: Mapping[str, Any]) -> None:
    """Write audio, JSONL files, ``items.jsonl``, ``statistics.jsonl`` and ``README.md``.

    Tracks that several items share, such as the history of one dialogue, are written once.

    Parameters
    ----------
    items : sequence of Item
        Sorted by id.
    out : Export
    title : str
        Name of the set.
    provenance : mapping
        What the card says of models, voices, noises and licences.
    """
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    written: dict[str, str] = {}
    for item in items:
        language, state, action, scenario = label_of(item)
        names = {}
        for track, digest in sorted(item.audio.items()):
            if track != "target" and not track.startswith("history-"):
                continue
            if digest not in written:
                written[digest] = audio_name(language, digest)
                out.sound(written[digest], digest)
            names[track] = written[digest]
        origin = str(item.fields.get("origin", "syn"))
        folder = f"jsonls/{language.upper()}/{origin}/{state}/{action}"
        lines[f"{folder}/{scenario}.jsonl"].append(example(item, names))
    for path, rows in sorted(lines.items()):
        out.lines(path, rows)
    out.lines("items.jsonl", ({"id": i.id, **i.fields} for i in items))
    figures = statistics(items)
    out.lines("statistics.jsonl", [figures])
    out.text("README.md", card(title, figures, leaks(items), provenance))


def statistics(items: Iterable[Item]) -> dict[str, JsonValue]:
    """Return counts per label and split, and durations, beside the counts of the published set.

    Source
    ------
    CoDeTT, Table 1: per language 500 synthetic items of each label, and 500 real ones of
    Backchannel, Interruption, Completion and Incomplete.
    """
    counts: Counter[tuple[str, str, str, str, str]] = Counter()
    splits: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for item in items:
        counts[(*label_of(item), str(item.fields.get("origin", "syn")))] += 1
        splits[str(item.fields.get("split", "test"))] += 1
        measures = item.fields.get("measures") or {}
        seconds[str(item.fields["language"])] += measures.get("target", {}).get("duration_s", 0)
    table: list[JsonValue] = []
    for language in sorted({key[0] for key in counts}):
        for intent in INTENTS:
            key = (language, intent.state, intent.action, intent.scenario)
            table.append(
                {
                    "language": language,
                    "label": intent.label,
                    "synthetic": counts[(*key, "syn")],
                    "real": counts[(*key, "real")],
                    "published_synthetic": PUBLISHED_SYN,
                    "published_real": PUBLISHED_REAL
                    if intent.scenario in PUBLISHED_REAL_SCENARIOS
                    else 0,
                }
            )
    return {
        "items": sum(counts.values()),
        "splits": dict(sorted(splits.items())),
        "target_seconds": {k: round(v, 2) for k, v in sorted(seconds.items())},
        "labels": table,
    }


def card(
    title: str, figures: Mapping[str, Any], found: Sequence[Leak], provenance: Mapping[str, Any]
) -> str:
    """Return the data card in Markdown: what is in the set, how it was made, what it is not."""
    rows = [
        f"| {r['language']} | {r['label']} | {r['synthetic']} | {r['real']} "
        f"| {r['published_synthetic']} + {r['published_real']} |"
        for r in figures["labels"]
    ]
    splits = ", ".join(f"{name} {count}" for name, count in figures["splits"].items())
    spoken = ", ".join(f"{k} {v / 60:.1f} min" for k, v in figures["target_seconds"].items())
    leaked = (
        "No dialogue, speaker or target sentence occurs in two splits."
        if not found
        else f"{counted(len(found), 'dialogue')}, speakers or sentences occur in two splits: "
        + "; ".join(f"{leak.tie} in {', '.join(leak.splits)}" for leak in found[:10])
    )
    made = [f"- {name}: {value}" for name, value in provenance.items()]
    return "\n".join(
        [
            f"# {title}",
            "",
            f"{counted(figures['items'], 'item')} in the "
            f"released layout of CoDeTT. Targets: {spoken}.",
            f"Splits: {splits}. {leaked}",
            "",
            "| language | label | synthetic | real | published set (synthetic + real) |",
            "| --- | --- | ---: | ---: | ---: |",
            *rows,
            "",
            "## How it was made, and under which licences",
            "",
            *made,
            "",
            "The set as a whole has no licence but those of its parts. `lineage.jsonl` names, for",
            "every item, each call, prompt, voice and room, and each recording with its author and",
            "licence;",
            "`build.json` has the seed and the yields; `checksums.txt` the SHA-256 of each file.",
            "",
            *(WRITTEN if any(r["synthetic"] for r in figures["labels"]) else ()),
        ]
    )
