"""Cut a document down to what a format can hold, and say what went.

Every writer writes the result of :func:`fit`, and its reader gives exactly that back: writing
loses nothing beyond the list returned here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from floorbench.core.time import exact, round_half_up
from floorbench.formats.abilities import Abilities, LossCounter, clean_text
from floorbench.formats.tiers import LATEST, ZERO, Document, Entry, Tier, ordered


def fit(document: Document, able: Abilities, *, stem: str, lost: LossCounter) -> Document:
    """Return the part of a document that a format can hold, as its reader would give it.

    Parameters
    ----------
    document : Document
    able : Abilities
    stem : str
        Name for the recording where the format needs one and the document has none.
    lost : LossCounter
        Receives what is left out, changed or filled in.
    """
    tiers = _fit_entries(document.tiers, able, lost)
    tiers = [tier for tier in tiers if _worth_writing(tier, able, lost)]
    tiers = _fit_identity(tiers, able, stem, lost)
    if not able.overlap or not able.zero_length:
        tiers = [part for tier in tiers for part in _spill(tier, able, lost)]
    tiers = _merge_or_rename(tiers, able, lost)
    if not able.several_tiers and len(tiers) > 1:
        for tier in tiers[1:]:
            lost.add("not written: one tier a file", tier.name)
        tiers = tiers[:1]
    if able.sorted_tiers:
        tiers.sort(key=tier_order)
    return _fit_head(document, tuple(tiers), able, lost)


def tier_order(tier: Tier) -> tuple[str, str, bool, str]:
    """Order of tiers in formats whose files do not store one."""
    return tier.recording or "", tier.channel or "", tier.speaker is not None, tier.name


def _worth_writing(tier: Tier, able: Abilities, lost: LossCounter) -> bool:
    if tier.entries or able.empty_tiers:
        return True
    lost.add("not written: it has no entries", tier.name)
    return False


# ---- entries ---------------------------------------------------------------------------------


def _fit_entries(tiers: Sequence[Tier], able: Abilities, lost: LossCounter) -> list[Tier]:
    fitted: list[Tier] = []
    moved: dict[str, dict[int, int]] = {}
    for tier in tiers:
        kept: list[tuple[int, Entry]] = []
        for index, entry in enumerate(tier.entries):
            new = _fit_entry(entry, tier, able, lost)
            if new is not None:
                kept.append((index, new))
        if tier.parent is None or not able.hierarchy:
            by_entry = {id(entry): index for index, entry in kept}
            kept = [(by_entry[id(e)], e) for e in ordered(entry for _, entry in kept)]
        moved.setdefault(tier.name, {old: new for new, (old, _) in enumerate(kept)})
        fitted.append(replace(tier, entries=tuple(entry for _, entry in kept)))
    if not able.hierarchy:
        return fitted
    return [_repoint(tier, moved.get(tier.parent or "", {})) for tier in fitted]


def _repoint(tier: Tier, moved: Mapping[int, int]) -> Tier:
    if tier.parent is None:
        return tier
    entries = (
        e if e.parent is None else replace(e, parent=moved.get(e.parent)) for e in tier.entries
    )
    return replace(tier, entries=tuple(entries))


def _fit_entry(entry: Entry, tier: Tier, able: Abilities, lost: LossCounter) -> Entry | None:
    start, end = entry.start, entry.end
    if not entry.timed:
        if able.untimed == "no":
            lost.add("untimed entries not written", tier.name)
            return None
        if able.untimed == "whole" and (start is not None or end is not None):
            lost.add("lone start or end times not written", tier.name)
            start = end = None
    if not able.negative and min(start or ZERO, end or ZERO) < 0:
        lost.add("entries before time 0 not written", tier.name)
        return None
    free = entry.estimated if able.estimated else ""
    new_start = rounded(start, able.decimals, keep=free in ("start", "both"))
    new_end = rounded(end, able.decimals, keep=free in ("end", "both"))
    if (new_start, new_end) != (start, end):
        lost.add(f"times rounded to {able.decimals} decimals", tier.name)
        if new_start is not None and new_end is not None:
            new_end = max(new_start, new_end)
    text = clean_text(entry.text, able.text, able.forbidden)
    if text != entry.text:
        lost.add("texts not written" if able.text == "none" else "texts changed", tier.name)
    if not text and able.placeholder and not (tier.kind == "point" and able.point_tiers):
        lost.add(f"entries without text labelled {able.placeholder!r}", tier.name)
        text = able.placeholder
    extra = {k: v for k, v in entry.extra.items() if able.extra is None or k in able.extra}
    for key in entry.extra.keys() - extra.keys():
        lost.add(f"{key!r} of entries not written", tier.name)
    if able.extra_text != "any":
        extra = _clean_extra(extra, tier, able, lost)
    if entry.confidence is not None and not able.confidence:
        lost.add("confidence not written", tier.name)
    if entry.estimated and not able.estimated:
        lost.add("estimated times written as if they were measured", tier.name)
    if entry.parent is not None and not able.hierarchy:
        lost.add("links to the parent tier not written", tier.name)
    return Entry(
        start=new_start,
        end=new_end,
        text=text,
        confidence=entry.confidence if able.confidence else None,
        parent=entry.parent if able.hierarchy else None,
        estimated=entry.estimated if able.estimated else "",
        extra=extra,
        line=entry.line,
    )


def _clean_extra(
    extra: dict[str, str], tier: Tier, able: Abilities, lost: LossCounter
) -> dict[str, str]:
    clean = {}
    for key, value in extra.items():
        new = clean_text(value, able.extra_text, able.forbidden)
        if new and new != "<NA>":
            clean[key] = new
        if new != value:
            lost.add(f"{key!r} of entries changed", tier.name)
    return clean


def rounded(value: Decimal | None, decimals: int | None, *, keep: bool = False) -> Decimal | None:
    """Round a time half up, unless it is to be kept as it is."""
    if value is None or decimals is None or keep:
        return value
    near = Decimal(round_half_up(exact(value) * 10**decimals)).scaleb(-decimals)
    return value if near == value else near


# ---- which tier an entry belongs to ------------------------------------------------------------


def _fit_identity(tiers: list[Tier], able: Abilities, stem: str, lost: LossCounter) -> list[Tier]:
    several = len({tier.recording for tier in tiers}) > 1
    fitted = []
    for tier in tiers:
        fitted.append(_identified(tier, able, stem, several, lost))
    return fitted


def _identified(tier: Tier, able: Abilities, stem: str, several: bool, lost: LossCounter) -> Tier:
    name, recording, channel, speaker = tier.name, tier.recording, tier.channel, tier.speaker
    if able.recordings:
        if recording is None and able.names != "any":
            recording = stem
            lost.add(f"no recording named; {stem!r} written")
        if recording is not None and able.name_text != "any":
            recording = _token(recording, "recording", tier, lost)
    elif recording is not None:
        lost.add("recordings mixed on one clock" if several else "the recording's name not written")
        if several and able.names != "fixed":
            name = f"{recording} {name}"
        recording = None
    if able.channels and able.names != "channel":
        if channel is None and able.names != "any":
            lost.add("no channel named; '1' written")
            channel = "1"
        if channel is not None:
            channel = _token(channel, "channel", tier, lost)
    elif able.names != "channel" and channel is not None:
        lost.add("the channel's name not written", tier.name)
        channel = None
    name, channel, speaker = _named(name, channel, speaker, tier, able, lost)
    kind = tier.kind if able.point_tiers else "interval"
    if kind != tier.kind:
        lost.add("points written as intervals of length 0", tier.name)
    if tier.parent is not None and not able.hierarchy:
        lost.add(f"its dependence on tier {tier.parent!r} not written", tier.name)
    if tier.extent is not None and not able.extents:
        lost.add("its own start and end not written", tier.name)
    return replace(
        tier, name=name, kind=kind, recording=recording, channel=channel, speaker=speaker,
        parent=tier.parent if able.hierarchy else None,
        constraint=tier.constraint if able.hierarchy else None,
        extent=tier.extent if able.extents else None,
    )  # fmt: skip


def _named(
    name: str, channel: str | None, speaker: str | None, tier: Tier, able: Abilities,
    lost: LossCounter,
) -> tuple[str, str | None, str | None]:  # fmt: skip
    if able.names == "fixed":
        if speaker is not None or name != able.fixed_name:
            lost.add("its name and speaker not written", tier.name)
        return able.fixed_name, channel, None
    if able.names == "channel":
        wanted = channel or name
        if name != wanted or speaker is not None:
            lost.add("its name and speaker not written", tier.name)
        channel = _token(wanted, "channel", tier, lost)
        return channel, channel, None
    clean = clean_text(name, able.name_text)
    if able.names == "speaker":
        clean = _token(name, "name", tier, lost) if able.name_text == "token" else clean
        if speaker is None and able.fixed_name and clean == able.fixed_name:
            return clean, channel, None
        if speaker is not None and speaker != name:
            lost.add(f"speaker {speaker!r} not written", tier.name)
        if able.name_text != "any":
            clean = clean or "speaker"
        if clean != name and able.name_text != "token":
            lost.add(f"name written as {clean!r}", tier.name)
        return clean, channel, clean
    if clean != name:
        lost.add(f"name written as {clean!r}", tier.name)
    if speaker is not None:
        if not able.speakers:
            lost.add("its speaker not written", tier.name)
            speaker = None
        else:
            speaker = clean_text(speaker, able.name_text) or None
    return clean, channel, speaker


def _token(text: str, what: str, tier: Tier, lost: LossCounter) -> str:
    token = clean_text(text, "token").lstrip(";#\ufeff") or "_"
    if token != text:
        lost.add(f"{what} written as {token!r}", tier.name)
    return token


def _spill(tier: Tier, able: Abilities, lost: LossCounter) -> list[Tier]:
    if tier.kind == "point":
        return [tier]
    lanes: list[list[Entry]] = [[]]
    ends = [-LATEST]
    points: list[Entry] = []
    for entry in tier.entries:
        start, end = entry.edges
        if start == end and not able.zero_length:
            points.append(entry)
            continue
        lane = 0
        if not able.overlap:
            free = (n for n, last in enumerate(ends) if last <= start)
            lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
            ends.append(-LATEST)
        if lane:
            lost.add(f"overlapping entries moved to tier '{tier.name} ({lane + 1})'", tier.name)
        lanes[lane].append(entry)
        ends[lane] = end
    parts = [
        replace(tier, name=tier.name if not n else f"{tier.name} ({n + 1})", entries=tuple(lane))
        for n, lane in enumerate(lanes)
    ]
    if points and able.point_tiers:
        name = f"{tier.name} (points)"
        for _ in points:
            lost.add(f"entries without length moved to point tier {name!r}", tier.name)
        parts.append(replace(tier, name=name, kind="point", entries=tuple(points)))
    elif points:
        for _ in points:
            lost.add("entries without length not written", tier.name)
        parts = [part for part in parts if part.entries or able.empty_tiers]
    return parts


def _merge_or_rename(tiers: list[Tier], able: Abilities, lost: LossCounter) -> list[Tier]:
    kept: dict[tuple[str | None, str | None, str], Tier] = {}
    if not able.unique_names:
        return tiers
    for tier in tiers:
        key = (tier.recording, tier.channel, tier.name)
        if key not in kept:
            kept[key] = tier
        elif able.names == "fixed":
            lost.add(f"tiers merged into one, {able.fixed_name!r}")
            kept[key] = replace(tier, entries=tuple(ordered((*kept[key].entries, *tier.entries))))
        else:
            new = _free_name(tier, kept, able)
            lost.add(f"name written as {new!r}, since another tier has it", tier.name)
            changes: dict[str, str] = {"name": new}
            if able.names == "channel":
                changes["channel"] = new
            elif able.names == "speaker":
                changes["speaker"] = new
            tier = replace(tier, **changes)  # type: ignore[arg-type]
            kept[(tier.recording, tier.channel, tier.name)] = tier
    return list(kept.values())


def _free_name(
    tier: Tier, taken: Iterable[tuple[str | None, str | None, str]], able: Abilities
) -> str:
    token = able.name_text == "token" or able.names == "channel"
    number = 2
    while True:
        name = f"{tier.name}_{number}" if token else f"{tier.name} ({number})"
        channel = name if able.names == "channel" else tier.channel
        if (tier.recording, channel, name) not in taken:
            return name
        number += 1


# ---- head --------------------------------------------------------------------------------------


def _fit_head(
    document: Document, tiers: tuple[Tier, ...], able: Abilities, lost: LossCounter
) -> Document:
    metadata = {
        key: value
        for key, value in document.metadata.items()
        if able.metadata is None or key in able.metadata
    }
    for key, value in document.metadata.items():
        if key not in metadata:
            lost.add(f"header entry {key!r} not written")
            continue
        metadata[key] = clean_text(value, able.header_text)
        if metadata[key] != value:
            lost.add(f"header entry {key!r} changed")
    if document.duration is not None and not able.duration:
        lost.add("the media's duration not written")
    if document.origin and not able.duration:
        lost.add("the start of the clock not written")
    return Document(
        tiers=tiers,
        format=document.format,
        metadata=metadata,
        origin=document.origin if able.duration else ZERO,
        duration=document.duration if able.duration else None,
    )
