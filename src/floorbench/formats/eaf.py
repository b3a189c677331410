"""ELAN annotation files (EAF 2.x and 3.0).

Times are milliseconds. A ``TIME_ORIGIN`` of the first media file is added to all times, so that
they are times of that media file, and reported. Annotations without times of their own get what
the file implies, and are marked as estimated where that is a division of a longer stretch:

- a symbolic association has its parent's times;
- symbolic subdivisions share their parent's span equally, in the order of their chain;
- time slots without a value lie evenly between the valued ones of their tier, as ELAN shows them.

Vocabularies, licences, linked files, locales and properties are not read; a remark counts them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities, LossCounter
from floorbench.formats.eaf_times import (
    Annotation,
    chained,
    holding_parent,
    interpolated,
    shared,
)
from floorbench.formats.eaf_write import render
from floorbench.formats.fit import rounded
from floorbench.formats.registry import Codec
from floorbench.formats.source import Source, check_overlaps
from floorbench.formats.tiers import Document, Entry, Tier, add, ordered
from floorbench.formats.xmltree import Node, parse_xml

HEADER = ("AUTHOR", "DATE", "MEDIA_URL", "RELATIVE_MEDIA_URL", "MIME_TYPE")


class Eaf(Codec):
    """Reader and writer of EAF."""

    abilities: ClassVar[Abilities] = Abilities(
        name_text="xml", text="xml", header_text="xml", empty_tiers=True,
        sorted_tiers=False, speakers=True,
        decimals=3, hierarchy=True, estimated=True, metadata=frozenset(HEADER),
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read tiers with their dependences resolved to times."""
        root = parse_xml(source)
        if root.tag != "ANNOTATION_DOCUMENT":
            source.fail("FB703", f"the root is {root.tag!r}, not ANNOTATION_DOCUMENT", root.line)
        metadata, origin = _header(root, source)
        reader = _TierReader(root, source, origin)
        tiers = reader.tiers()
        check_overlaps(source, tiers)
        unread = Counter(
            node.tag
            for node in root.children
            if node.tag not in ("HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE", "CONSTRAINT")
        )
        if unread:
            parts = ", ".join(f"{count} {tag[:40]}" for tag, count in unread.items())
            source.note(f"not read: {parts}")
        return Document(tiers=tiers, format="eaf", metadata=metadata, warnings=source.all_notices())

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Drop dependences and estimates that the format's rules would not give back."""
        names = {tier.name for tier in document.tiers}
        tiers = [
            tier if tier.parent is None or tier.parent in names else _independent(tier, lost)
            for tier in document.tiers
        ]
        for _ in range(2 * len(tiers) + 1):
            data = render(replace(document, tiers=tuple(tiers))).encode("utf-8")
            again = self.read(Source(name="", data=data)).tiers
            wrong = [n for n, tier in enumerate(tiers) if tier != again[n]]
            if not wrong:
                break
            for number in wrong:
                tier = tiers[number]
                if _without_links(tier) == _without_links(again[number]):
                    lost.add("links to the parent tier set by time", tier.name)
                    tiers[number] = again[number]
                else:
                    tiers[number] = _independent(tier, lost)
        return replace(document, tiers=tuple(tiers))

    def render(self, document: Document) -> str:
        """Write EAF 3.0."""
        return render(document)


def _without_links(tier: Tier) -> Tier:
    return replace(tier, entries=tuple(replace(e, parent=None) for e in tier.entries))


def _independent(tier: Tier, lost: LossCounter) -> Tier:
    if tier.parent is not None:
        lost.add(f"its dependence on tier {tier.parent!r} not written", tier.name)
    for entry in tier.entries:
        if entry.estimated:
            lost.add("estimated times written as if they were measured", tier.name)
    entries = ordered(
        replace(e, parent=None, estimated="", start=rounded(e.start, 3), end=rounded(e.end, 3))
        for e in tier.entries
    )
    return replace(tier, parent=None, constraint=None, entries=tuple(entries))


def _header(root: Node, source: Source) -> tuple[dict[str, str], Decimal]:
    metadata = {key: value for key in ("AUTHOR", "DATE") if (value := root.get(key))}
    header = next(root.all("HEADER"), None)
    if header is None:
        source.fault("no HEADER", root.line)
        return metadata, Decimal(0)
    units = header.get("TIME_UNITS") or "milliseconds"
    if units != "milliseconds":
        source.fail("FB703", f"times are in {units[:40]!r}, not milliseconds", header.line)
    media = list(header.all("MEDIA_DESCRIPTOR"))
    origins: list[Decimal] = []
    for node in media:
        origin = Decimal(0)
        text = node.get("TIME_ORIGIN")
        if text is not None:
            with source.row(node.line, "TIME_ORIGIN"):
                origin = _milliseconds(text)
        origins.append(origin)
    if not media:
        return metadata, Decimal(0)
    for key in ("MEDIA_URL", "RELATIVE_MEDIA_URL", "MIME_TYPE"):
        if value := media[0].get(key):
            metadata[key] = value
    if len(media) > 1:
        source.note(
            f"{counted(len(media), 'media file')}; times are those of the first", media[1].line
        )
    if origins[0]:
        source.note(f"TIME_ORIGIN: {origins[0]} s added to all times", media[0].line)
    if any(origin != origins[0] for origin in origins):
        shown = ", ".join(str(origin) for origin in origins)
        source.note(f"media files have different TIME_ORIGINs: {shown} s", media[0].line)
    return metadata, origins[0]


def _milliseconds(text: str) -> Decimal:
    digits = text.strip()
    if len(digits) > 13 or not digits.removeprefix("-").isdecimal() or not digits.isascii():
        raise DataError("FB704", f"time {text[:40]!r} is not a whole number of milliseconds")
    return Decimal(digits).scaleb(-3)


class _TierReader:
    def __init__(self, root: Node, source: Source, origin: Decimal) -> None:
        self._source = source
        self._slots: dict[str, Decimal | None] = {}
        for order in root.all("TIME_ORDER"):
            for slot in order.all("TIME_SLOT"):
                self._read_slot(slot, origin)
        self._constraints = {
            node.get("LINGUISTIC_TYPE_ID"): node.get("CONSTRAINTS")
            for node in root.all("LINGUISTIC_TYPE")
        }
        self._nodes: dict[str, Node] = {}
        self._repeated: list[Node] = []
        for node in root.all("TIER"):
            name = node.get("TIER_ID")
            if name is None:
                source.fault("a tier without TIER_ID is called ''", node.line)
            if (name or "") in self._nodes:
                source.fault(f"two tiers are named {name!r}", node.line)
                self._repeated.append(node)
            else:
                self._nodes[name or ""] = node
        self._order = list(root.all("TIER"))
        self._done: dict[int, Tier] = {}
        self._entry_of: dict[str, tuple[str, Entry]] = {}

    def _read_slot(self, slot: Node, origin: Decimal) -> None:
        name, value = slot.get("TIME_SLOT_ID"), slot.get("TIME_VALUE")
        if name is None:
            self._source.fault("a time slot without TIME_SLOT_ID", slot.line)
            return
        self._slots[name] = None
        if value is not None:
            with self._source.row(slot.line):
                self._slots[name] = add(_milliseconds(value), origin)

    def tiers(self) -> tuple[Tier, ...]:
        """Return all tiers, parents resolved before their children."""
        for node in self._order:
            self._resolve(node, ())
        return tuple(self._done[id(node)] for node in self._order)

    def _resolve(self, node: Node, above: tuple[int, ...]) -> Tier:
        if id(node) in self._done:
            return self._done[id(node)]
        parent_name = node.get("PARENT_REF")
        parent_node = self._nodes.get(parent_name or "") if parent_name else None
        if parent_name is not None and (
            parent_node is None or id(parent_node) in (*above, id(node)) or len(above) > 60
        ):
            self._source.fault(f"parent tier {parent_name[:40]!r} cannot be used", node.line)
            parent_name = parent_node = None
        parent = self._resolve(parent_node, (*above, id(node))) if parent_node else None
        tier = Tier(
            name=node.get("TIER_ID") or "",
            speaker=node.get("PARTICIPANT") or None,
            parent=parent_name,
            constraint=self._constraints.get(node.get("LINGUISTIC_TYPE_REF"))
            if parent_name
            else None,
        )
        aligned, referring = self._annotations(node)
        named = [*self._aligned(aligned, parent), *self._referring(referring, tier, parent)]
        entries = tuple(entry for _, entry in named)
        tier = replace(tier, entries=entries)
        self._done[id(node)] = tier
        for index, (name, entry) in enumerate(named):
            self._entry_of[name] = (tier.name, replace(entry, parent=index))
        return tier

    def _annotations(self, node: Node) -> tuple[list[Annotation], list[Annotation]]:
        aligned: list[Annotation] = []
        referring: list[Annotation] = []
        for wrapper in node.all("ANNOTATION"):
            for item in wrapper.children:
                value = next(item.all("ANNOTATION_VALUE"), None)
                made = Annotation(
                    name=item.get("ANNOTATION_ID") or "",
                    text=value.text if value else "",
                    line=item.line,
                    ref=item.get("ANNOTATION_REF") or "",
                    previous=item.get("PREVIOUS_ANNOTATION") or "",
                    slots=(item.get("TIME_SLOT_REF1") or "", item.get("TIME_SLOT_REF2") or ""),
                )
                if item.tag == "REF_ANNOTATION":
                    referring.append(made)
                elif item.tag != "ALIGNABLE_ANNOTATION":
                    self._source.fault(f"unknown annotation {item.tag[:40]!r}", item.line)
                elif not all(slot in self._slots for slot in made.slots):
                    self._source.fault(
                        "refers to a time slot that is not there; skipped", item.line
                    )
                else:
                    aligned.append(made)
        return aligned, referring

    def _aligned(self, items: list[Annotation], parent: Tier | None) -> list[tuple[str, Entry]]:
        made: list[tuple[str, Entry]] = []
        times = interpolated([(item.slots, self._slots) for item in items])
        for item, (start, end, estimated) in zip(items, times, strict=True):
            if start is None or end is None:
                self._source.fault("its time slots have no value, nor do any near", item.line)
                start = end = None
            with self._source.row(item.line):
                entry = Entry(
                    start=start, end=end, text=item.text, estimated=estimated, line=item.line
                )
                made.append((item.name, entry))
        entries = {id(entry): name for name, entry in made}
        in_order = ordered(entry for _, entry in made)
        found = holding_parent(in_order, parent)
        return [
            (entries[id(entry)], replace(entry, parent=index))
            for entry, index in zip(in_order, found, strict=True)
        ]

    def _referring(
        self, items: list[Annotation], tier: Tier, parent: Tier | None
    ) -> list[tuple[str, Entry]]:
        groups: dict[int, list[Annotation]] = {}
        parents: dict[int, Entry] = {}
        for item in items:
            owner, found = self._entry_of.get(item.ref, ("", None))
            if found is None or parent is None or owner != parent.name or found.parent is None:
                self._source.fault("refers to no annotation of the parent tier; skipped", item.line)
                continue
            groups.setdefault(found.parent, []).append(item)
            parents[found.parent] = found
        made: list[tuple[str, Entry]] = []
        for index in sorted(groups):
            group = groups[index]
            if tier.constraint == "Symbolic_Subdivision":
                group = chained(group, self._source)
                times = shared(parents[index], len(group))
            else:
                if len(group) > 1:
                    self._source.fault(
                        f"{len(group)} annotations associated with one", group[1].line
                    )
                whole = parents[index]
                times = [(whole.start, whole.end, whole.estimated)] * len(group)
            for item, (start, end, estimated) in zip(group, times, strict=True):
                with self._source.row(item.line):
                    entry = Entry(
                        start=start, end=end, text=item.text, parent=index,
                        estimated=estimated, line=item.line,
                    )  # fmt: skip
                    made.append((item.name, entry))
        return made
