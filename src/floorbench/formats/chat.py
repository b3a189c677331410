"""CHAT transcripts (TalkBank): utterances by speaker with time marks, and dependent lines.

Each speaker code gives a tier of utterances; an utterance's time mark (bullet) gives its times in
milliseconds, one without a mark stays untimed. ``%wor`` lines give a tier ``CODE %wor`` of words
with their own marks; other dependent lines give tiers such as ``CODE %mor`` with the utterance's
times. Utterance text is kept with its CHAT markup. Header lines are metadata by their names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import ClassVar

from floorbench.formats.abilities import Abilities, LossCounter, clean_text
from floorbench.formats.registry import Codec
from floorbench.formats.source import Source
from floorbench.formats.tiers import LATEST, Document, Entry, Tier, ordered

_BULLET = re.compile(
    r"(?<![ \t])[ \t]*+\x15(?:%[a-z]+:\"[^\"\x15]*\"_)?(\d{1,12})_(\d{1,12})-?\x15", re.ASCII
)
_LINE = re.compile(r"(?:\*|%)([^:\s]+):[ \t]*(.*)", re.DOTALL)
_HEADER = re.compile(r"(@[^:\t\n]+)(?::[ \t]*(.*))?", re.DOTALL)
_TERMINATOR = re.compile(r"[.?!]|\+\S*[.?!]")
_FIXED = ("@UTF8", "@Begin", "@End")


@dataclass
class _Utterance:
    entry: Entry
    words: list[Entry] = field(default_factory=list)
    dependent: dict[str, str] = field(default_factory=dict)


class Chat(Codec):
    """Reader and writer of CHAT."""

    abilities: ClassVar[Abilities] = Abilities(
        text="line", forbidden={"\x15": ""}, sorted_tiers=False, speakers=True, decimals=3,
        untimed="whole", hierarchy=True, metadata=None,
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read utterances, words and dependent lines."""
        spoken: dict[str, list[_Utterance]] = {}
        metadata: dict[str, str] = {}
        last: _Utterance | None = None
        for line, text in _records(source):
            if text.startswith("@"):
                header = _HEADER.match(text)
                if header:
                    name, value = header[1].strip(), (header[2] or "").strip(" \t")
                    known = f"{metadata[name]}\n" if name in metadata else ""
                    metadata[name] = known + value
                continue
            match = _LINE.match(text)
            if not match:
                source.fault(f"{text[:40]!r} is no header, utterance or dependent line", line)
            elif text.startswith("*"):
                last = None
                with source.row(line):
                    last = _Utterance(_utterance(match[2], line, source))
                    spoken.setdefault(match[1], []).append(last)
            elif last is None:
                source.fault("a dependent line without an utterance; skipped", line)
            elif match[1] == "wor":
                last.words += _words(match[2], line, source)
            elif match[1] in last.dependent:
                source.fault(f"a second %{match[1]} line of one utterance; skipped", line)
            else:
                last.dependent[match[1]] = _BULLET.sub("", match[2]).strip(" \t")
        if "@Begin" not in metadata and not spoken:
            source.fail("FB703", "neither @Begin nor an utterance", 1)
        for name in _FIXED:
            if name not in metadata:
                source.fault(f"no {name} line")
            metadata.pop(name, None)
        listed = [part.split()[0] for part in _participants(metadata)]
        codes = [code for code in dict.fromkeys(listed) if code in spoken]
        codes += [code for code in spoken if code not in codes]
        tiers = [tier for code in codes for tier in _tiers(code, spoken[code])]
        return Document(
            tiers=tuple(tiers), format="chat", metadata=metadata, warnings=source.all_notices()
        )

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Name speakers and dependent lines as CHAT does; drop what its lines cannot hold."""
        metadata = {}
        for key, value in document.metadata.items():
            if re.fullmatch("@[A-Za-z0-9 ]+", key) and key not in _FIXED:
                metadata[key] = value
            else:
                lost.add(f"header entry {key!r} not written")
        tiers = _chat_tiers(document.tiers, lost)
        wanted = replace(document, tiers=tuple(tiers), metadata=metadata)
        data = self.render(wanted).encode("utf-8")
        again = self.read(Source(name="", data=data)).tiers
        kept = {tier.name: tier for tier in again}
        for tier in tiers:
            if kept.get(tier.name) != tier:
                lost.add("changed to follow its utterances", tier.name)
        return replace(wanted, tiers=again)

    def render(self, document: Document) -> str:
        """Write the transcript."""
        roots = [tier for tier in document.tiers if tier.parent is None]
        metadata = dict(document.metadata)
        known = {part.split()[0]: part for part in _participants(metadata)}
        parts = [known.get(tier.name, f"{tier.name} Participant") for tier in roots]
        parts += [part for code, part in known.items() if all(t.name != code for t in roots)]
        metadata["@Participants"] = ", ".join(parts)
        below = _by_utterance(document.tiers)
        out = ["@UTF8\n@Begin\n"]
        for name in sorted(metadata, key=lambda key: key not in ("@Languages", "@Participants")):
            for value in metadata[name].split("\n"):
                out.append(f"{name}:\t{value}\n" if value else f"{name}\n")
        for tier, index, entry in _in_order(roots, by_line=document.format == "chat"):
            out.append(f"*{tier.name}:\t{entry.text}{_bullet(entry)}\n")
            out += (_dependent_line(line, mine) for line, mine in below[tier.name].get(index, ()))
        out.append("@End\n")
        return "".join(out)


# ---- reading -----------------------------------------------------------------------------------


def _records(source: Source) -> Iterator[tuple[int, str]]:
    """Yield logical lines: a line that begins with a tab continues the one before."""
    first, parts = 0, list[str]()
    for number, line in source.lines():
        if line.startswith("\t") and parts:
            parts.append(line.strip(" \t"))
            continue
        if parts:
            yield first, " ".join(parts)
        first, parts = number, [line.rstrip(" \t")] if line.strip(" \t") else []
    if parts:
        yield first, " ".join(parts)


def _utterance(text: str, line: int, source: Source) -> Entry:
    marks = list(_BULLET.finditer(text))
    clean = _BULLET.sub("", text).strip(" \t")
    if "\x15" in clean:
        source.fault("a time mark that is not of the form start_end", line)
        clean = clean.replace("\x15", "")
    if not marks:
        return Entry(start=None, end=None, text=clean, line=line)
    return Entry(start=_ms(marks[0][1]), end=_ms(marks[-1][2]), text=clean, line=line)


def _words(text: str, line: int, source: Source) -> list[Entry]:
    words: list[Entry] = []
    place = 0
    for mark in _BULLET.finditer(text):
        tokens = [token for token in re.split("[ \t]+", text[place : mark.start()]) if token]
        place = mark.end()
        words += [Entry(start=None, end=None, text=token, line=line) for token in tokens[:-1]]
        if not tokens:
            source.fault("a time mark without a word", line)
            continue
        with source.row(line):
            entry = Entry(start=_ms(mark[1]), end=_ms(mark[2]), text=tokens[-1], line=line)
            words.append(entry)
    rest = [token for token in re.split("[ \t]+", text[place:].replace("\x15", "")) if token]
    if rest and _TERMINATOR.fullmatch(rest[-1]):
        rest.pop()
    words += [Entry(start=None, end=None, text=token, line=line) for token in rest]
    return words


def _tiers(code: str, utterances: list[_Utterance]) -> Iterator[Tier]:
    by_entry = {id(utterance.entry): utterance for utterance in utterances}
    in_order = [by_entry[id(e)] for e in ordered(u.entry for u in utterances)]
    yield Tier(name=code, speaker=code, entries=tuple(u.entry for u in in_order))
    for name in sorted({name for u in in_order for name in u.dependent}):
        entries = tuple(
            replace(u.entry, text=u.dependent[name], parent=index)
            for index, u in enumerate(in_order)
            if name in u.dependent
        )
        yield _dependent_tier(code, name, entries)
    words = tuple(
        replace(word, parent=index) for index, u in enumerate(in_order) for word in u.words
    )
    if words:
        yield _dependent_tier(code, "wor", words)


def _dependent_tier(code: str, name: str, entries: tuple[Entry, ...]) -> Tier:
    return Tier(
        name=f"{code} %{name}",
        speaker=code,
        parent=code,
        constraint="Included_In" if name == "wor" else "Symbolic_Association",
        entries=entries,
    )


def _participants(metadata: dict[str, str]) -> list[str]:
    value = metadata.get("@Participants", "").replace("\n", ",")
    return [part.strip() for part in value.split(",") if part.strip()]


def _ms(text: str) -> Decimal:
    return Decimal(text).scaleb(-3)


# ---- writing -----------------------------------------------------------------------------------


def _chat_tiers(tiers: tuple[Tier, ...], lost: LossCounter) -> list[Tier]:
    codes: dict[str, str] = {}
    roots: list[Tier] = []
    children: dict[str, list[Tier]] = {}
    names = {tier.name: tier for tier in tiers}
    for tier in tiers:
        above = names.get(tier.parent or "")
        line = _line_name(tier)
        if above is not None and above.parent is None and line:
            children.setdefault(above.name, []).append(replace(tier, name=line))
            if tier.name != f"{above.name} %{line}":
                lost.add(f"name written as %{line}", tier.name)
            continue
        if tier.parent is not None:
            lost.add(f"its dependence on tier {tier.parent!r} not written", tier.name)
        code = base = re.sub(r"[\s:,]", "_", clean_text(tier.name, "token")) or "SPK"
        number = 2
        while code in codes.values():
            code, number = f"{base}_{number}", number + 1
        if (code, code) != (tier.name, tier.speaker or tier.name):
            lost.add(f"name and speaker written as {code!r}", tier.name)
        codes.setdefault(tier.name, code)
        entries = tuple(ordered(replace(entry, parent=None) for entry in tier.entries))
        roots.append(
            replace(tier, name=code, speaker=code, parent=None, constraint=None, entries=entries)
        )
    made: list[Tier] = []
    for root in roots:
        made.append(root)
        origin = next(name for name, code in codes.items() if code == root.name)
        for child in sorted(children.get(origin, []), key=lambda t: (t.name == "wor", t.name)):
            if any(tier.name == f"{root.name} %{child.name}" for tier in made):
                lost.add("not written: another line has its name", child.name)
                continue
            entries = tuple(e for e in child.entries if e.parent is not None)
            for _ in range(len(child.entries) - len(entries)):
                lost.add("entries without an utterance not written", child.name)
            made.append(_dependent_tier(root.name, child.name, entries))
    return made


def _line_name(tier: Tier) -> str:
    known = re.fullmatch(r".* %([a-z]+)", tier.name, re.DOTALL)
    if known and known[1] == "wor":
        return "wor" if tier.constraint == "Included_In" else ""
    if tier.constraint != "Symbolic_Association":
        return ""
    if known:
        return known[1]
    return "x" + (re.sub("[^a-z]", "", tier.name.lower())[:12] or "tier")


def _in_order(roots: list[Tier], *, by_line: bool) -> list[tuple[Tier, int, Entry]]:
    """Return utterances in the transcript's order: as it was read, or by start."""
    keyed = []
    for tier in roots:
        key = -LATEST
        for index, entry in enumerate(tier.entries):
            key = entry.start if entry.start is not None else key
            keyed.append(((entry.line or 0) if by_line else 0, key, tier, index, entry))
    keyed.sort(key=lambda item: item[:2])
    return [item[2:] for item in keyed]


def _bullet(entry: Entry) -> str:
    if entry.start is None or entry.end is None:
        return ""
    return f" \x15{int(entry.start * 1000)}_{int(entry.end * 1000)}\x15"


def _by_utterance(tiers: Iterable[Tier]) -> dict[str, dict[int, list[tuple[str, list[Entry]]]]]:
    """Return, per tier and utterance, the name and the entries of each of its dependent lines."""
    out: dict[str, dict[int, list[tuple[str, list[Entry]]]]] = defaultdict(dict)
    for tier in tiers:
        if tier.parent is None:
            continue
        mine: dict[int, list[Entry]] = {}
        for entry in tier.entries:
            if entry.parent is not None:
                mine.setdefault(entry.parent, []).append(entry)
        for index, entries in mine.items():
            line = tier.name.rpartition("%")[2]
            out[tier.parent].setdefault(index, []).append((line, entries))
    return out


def _dependent_line(line: str, mine: Sequence[Entry]) -> str:
    if line != "wor":
        return f"%{line}:\t{mine[0].text}\n"
    words = [f"{clean_text(entry.text, 'token')}{_bullet(entry)}" for entry in mine]
    return f"%wor:\t{' '.join(words)} .\n"
