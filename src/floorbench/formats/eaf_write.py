"""Write a prepared document as EAF 3.0."""

from __future__ import annotations

from decimal import Decimal
from xml.sax.saxutils import escape, quoteattr

from floorbench.formats.tiers import Document, Entry, Tier

_STEREOTYPES = {
    "Time_Subdivision": "Time subdivision of the parent annotation, without gaps",
    "Symbolic_Subdivision": "Ordered parts of the parent annotation, without times",
    "Symbolic_Association": "One annotation for one parent annotation",
    "Included_In": "Time-aligned annotations within the parent annotation, gaps allowed",
}
_LINE_ENDS = {"\r": "&#13;"}


def render(document: Document) -> str:
    """Return the file's text; every dependence must be one that the format knows."""
    ids: dict[tuple[str, int], str] = {}
    number = 0
    for tier in document.tiers:
        for index in range(len(tier.entries)):
            number += 1
            ids[(tier.name, index)] = f"a{number}"
    slots: list[tuple[Decimal, int, str, bool]] = []
    tiers = [_tier(tier, ids, slots) for tier in document.tiers]
    slots.sort(key=lambda slot: (slot[0], slot[1]))
    meta = document.metadata
    media = ""
    if "MEDIA_URL" in meta:
        relative = meta.get("RELATIVE_MEDIA_URL")
        media = (
            f"        <MEDIA_DESCRIPTOR MEDIA_URL={_attribute(meta['MEDIA_URL'])}"
            f" MIME_TYPE={_attribute(meta.get('MIME_TYPE', 'audio/x-wav'))}"
            + (f" RELATIVE_MEDIA_URL={_attribute(relative)}" if relative else "")
            + "/>\n"
        )
    time_slots = "".join(
        f'        <TIME_SLOT TIME_SLOT_ID="{name}"'
        + (f' TIME_VALUE="{int(time * 1000)}"' if stated else "")
        + "/>\n"
        for time, _, name, stated in slots
    )
    constraints = "".join(
        f'    <CONSTRAINT DESCRIPTION="{text}" STEREOTYPE="{name}"/>\n'
        for name, text in _STEREOTYPES.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<ANNOTATION_DOCUMENT AUTHOR={_attribute(meta.get('AUTHOR', ''))}"
        f" DATE={_attribute(meta.get('DATE', '1970-01-01T00:00:00+00:00'))}"
        ' FORMAT="3.0" VERSION="3.0"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n'
        f'    <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">\n{media}    </HEADER>\n'
        f"    <TIME_ORDER>\n{time_slots}    </TIME_ORDER>\n"
        + "".join(tiers)
        + _types(document)
        + constraints
        + "</ANNOTATION_DOCUMENT>\n"
    )


def symbolic(tier: Tier) -> bool:
    """Whether a tier's annotations refer to their parents instead of to time slots."""
    return (tier.constraint or "").startswith("Symbolic")


def _types(document: Document) -> str:
    used = sorted({tier.constraint or "" for tier in document.tiers})
    return "".join(
        "    <LINGUISTIC_TYPE"
        + (f' CONSTRAINTS="{name}"' if name in _STEREOTYPES else "")
        + f' GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="{_type_name(name)}"'
        + f' TIME_ALIGNABLE="{"false" if name.startswith("Symbolic") else "true"}"/>\n'
        for name in used
        if name in _STEREOTYPES or not name
    )


def _type_name(constraint: str | None) -> str:
    return constraint if constraint in _STEREOTYPES else "default"


def _tier(
    tier: Tier, ids: dict[tuple[str, int], str], slots: list[tuple[Decimal, int, str, bool]]
) -> str:
    attributes = f' LINGUISTIC_TYPE_REF="{_type_name(tier.constraint)}"'
    if tier.parent is not None:
        attributes += f" PARENT_REF={_attribute(tier.parent)}"
    if tier.speaker is not None:
        attributes += f" PARTICIPANT={_attribute(tier.speaker)}"
    attributes += f" TIER_ID={_attribute(tier.name)}"
    body = []
    before: tuple[int | None, str] = (None, "")
    for index, entry in enumerate(tier.entries):
        name = ids[(tier.name, index)]
        if symbolic(tier):
            ref = ids.get((tier.parent or "", -1 if entry.parent is None else entry.parent), "")
            opening = f'REF_ANNOTATION ANNOTATION_ID="{name}" ANNOTATION_REF="{ref}"'
            chained = tier.constraint == "Symbolic_Subdivision" and before[0] == entry.parent
            if chained and before[1]:
                opening += f' PREVIOUS_ANNOTATION="{before[1]}"'
            before = (entry.parent, name)
        else:
            first, second = _slots(entry, slots)
            opening = (
                f'ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}"'
                f' TIME_SLOT_REF1="{first}" TIME_SLOT_REF2="{second}"'
            )
        kind = opening.partition(" ")[0]
        body.append(
            f"        <ANNOTATION>\n            <{opening}>\n"
            f"                <ANNOTATION_VALUE>{escape(entry.text, _LINE_ENDS)}"
            f"</ANNOTATION_VALUE>\n            </{kind}>\n        </ANNOTATION>\n"
        )
    return f"    <TIER{attributes}>\n{''.join(body)}    </TIER>\n"


def _slots(entry: Entry, slots: list[tuple[Decimal, int, str, bool]]) -> tuple[str, str]:
    names = []
    for edge, time in zip(("start", "end"), entry.edges, strict=True):
        name = f"ts{len(slots) + 1}"
        slots.append((time, len(slots), name, entry.estimated not in (edge, "both")))
        names.append(name)
    return names[0], names[1]


def _attribute(text: str) -> str:
    return quoteattr(text)
