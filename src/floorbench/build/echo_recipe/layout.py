"""The finished set in the neutral ECHO layout, its audits and its data card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, cast

from floorbench.build.echo_recipe.card import card
from floorbench.build.echo_recipe.placing import INSERTION_TRACK, speech_of
from floorbench.build.echo_recipe.screening import LENGTH_GAP
from floorbench.build.echo_render import Placed
from floorbench.build.echo_rows import NOTICE, dump, pair_rows, sample_row
from floorbench.build.echo_texts import ROLES, Scene
from floorbench.build.pipeline.stage import Export, Item
from floorbench.build.speech.providers import Word
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_closure import closure, size
from floorbench.datasets.echo_integrity import group_types, refuse
from floorbench.datasets.echo_tables import FORMAT
from floorbench.run import shortcuts

AUDITS, LISTENING_TABLE = "audits.json", "listening.jsonl"
FEWEST_GROUPS = 6
"""Groups with two target actions, per language, from which on shortcuts are probed."""
DRAWS = 200


def scene_of(item: Item) -> Scene:
    """Return a finished sample as the starter set knows it."""
    fields = item.fields
    turns = cast(Sequence[Mapping[str, str]], fields["history"])
    return Scene(
        id=item.id,
        group=str(fields["group"]),
        language=str(fields["language"]),
        role=str(fields["role"]),
        insertion=str(fields["insertion"]),
        history=tuple((Role(turn["role"]), turn["text"]) for turn in turns),
        before=str(fields["before"]),
        after=str(fields["after"]),
    )


def placed_of(item: Item) -> Placed:
    """Return what happens when in a finished sample."""
    events = cast(Mapping[str, float], item.fields["events"])
    words = cast(Sequence[Mapping[str, Any]], item.fields["words"])
    said = speech_of(item, INSERTION_TRACK)
    return Placed(
        onset=events["insertion_start"],
        end=events["insertion_end"],
        system_start=events["system_start"],
        system_end=events["system_end"],
        words=tuple(Word(**word) for word in words),
        voice=str(said["voice"]),
        speed=float(said["speed"]),
    )


def audio_name(language: str, digest: str) -> str:
    """Return the path of a track; nothing in it tells the role.

    Examples
    --------
    >>> audio_name("en", "0a1b2c3d4e5f60718293a4b5")
    'audio/en/0a1b2c3d4e5f60718293.flac'
    """
    return f"audio/{language}/{digest[:20]}.flac"


def write(
    items: Sequence[Item], out: Export, *, recipe: Mapping[str, JsonValue], licence: str
) -> None:
    """Write audio, tables, manifest, audits and data card.

    Parameters
    ----------
    items : sequence of Item
        Finished samples, whole groups.
    out : Export
    recipe : mapping
        What the manifest says of how the set was made.
    licence : str

    Raises
    ------
    DataError
        ``FB203``, ``FB262``, ``FB263`` or ``FB264`` when the set breaks a rule of its own.
    """
    ordered = sorted(items, key=lambda i: (str(i.fields["group"]), _place(i)))
    written: set[str] = set()
    rows, heard = [], []
    for item in ordered:
        language = str(item.fields["language"])
        paths = {}
        for track in ("user", "system", "listening-user", "listening-system"):
            if track not in item.audio:
                continue
            paths[track] = audio_name(language, item.audio[track])
            if paths[track] not in written:
                written.add(paths[track])
                out.sound(paths[track], item.audio[track])
        given = {role: paths[role] for role in ("user", "system")}
        rows.append(
            sample_row(
                scene_of(item), placed_of(item), audio=given, skeleton=str(item.fields["text"])
            )
        )
        heard.append(
            {
                "sample_id": item.id,
                **{role: paths.get(f"listening-{role}", given[role]) for role in given},
            }
        )
    out.lines("samples.jsonl", rows)
    out.lines("pairs.jsonl", pair_rows([scene_of(item) for item in ordered]))
    out.lines(LISTENING_TABLE, heard)
    out.text("manifest.json", dump(manifest(recipe, licence=licence)))
    out.lines("items.jsonl", ({"id": item.id, **item.fields} for item in ordered))
    found = {**audits(out.root), "measured": measured(ordered)}
    out.text(AUDITS, dump(found))
    out.text("README.md", card(found, recipe, licence=licence))


def _place(item: Item) -> int:
    return ROLES.index(str(item.fields["role"]))


def manifest(recipe: Mapping[str, JsonValue], *, licence: str) -> dict[str, Any]:
    """Return what ``manifest.json`` says."""
    return {
        "format": FORMAT,
        "name": "echo-built",
        "version": "1",
        "licence": licence,
        "notices": [NOTICE],
        "ranks": False,
        "samples": "samples.jsonl",
        "pairs": "pairs.jsonl",
        "history": "text",
        "system_channel": "planned",
        "recipe": dict(recipe),
    }


def audits(root: Path) -> dict[str, Any]:
    """Return Table 1, lexical closure, length match and shortcut probes of a written set.

    Parameters
    ----------
    root : Path
        With tables, manifest and audio.

    Raises
    ------
    DataError
        When the set breaks a rule of its own.
    """
    source = EchoSource(root)
    refuse(source.rows, source.pairs)
    types = group_types(source.rows)
    out: dict[str, Any] = {"size": asdict(size(source.rows, source.pairs)), "languages": {}}
    fewest = None
    for language in sorted({row.language for row, _ in source.rows}):
        rows = [row for row, _ in source.rows if row.language == language]
        flips = {r.group_id for r in rows if types[r.group_id] != "B-O"}
        fewest = len(flips) if fewest is None else min(fewest, len(flips))
        found = closure(rows)
        out["languages"][language] = {
            **asdict(found),
            "length_gap": _gap(found.mean_length),
            "length_gap_wanted": LENGTH_GAP,
        }
    if fewest is not None and fewest >= FEWEST_GROUPS:
        out["shortcuts"] = {
            version: [
                {**asdict(f), "shortcut": f.shortcut}
                for f in shortcuts.audit(source, version=version, draws=DRAWS)
            ]
            for version in shortcuts.VERSIONS
        }
    else:
        out["shortcuts"] = None
        out["why_no_shortcuts"] = (
            f"{fewest} groups with two target actions in a language; {FEWEST_GROUPS} are needed"
        )
    return out


def measured(items: Sequence[Item]) -> list[dict[str, JsonValue]]:
    """Return how the insertions sound, a row per language and role.

    Returns
    -------
    list of dict
        ``language``, ``role``, ``samples``; least, median and greatest of ``seconds``, ``rate``
        (phonemes or syllables per voiced second), ``stretch`` (factor of duration) and
        ``active_level_db`` of the user's track.
    """
    out: list[dict[str, JsonValue]] = []
    for language in sorted({str(i.fields["language"]) for i in items}):
        for role in ROLES:
            own = [i for i in items if (i.fields["language"], i.fields["role"]) == (language, role)]
            if not own:
                continue
            said = [speech_of(i, INSERTION_TRACK) for i in own]
            levels = [
                cast(Mapping[str, Any], i.fields["measures"])["user"]["active_level_db"]
                for i in own
            ]
            row: dict[str, JsonValue] = {"language": language, "role": role, "samples": len(own)}
            for name in ("seconds", "rate", "stretch"):
                row[name] = _spread([float(s[name]) for s in said])
            row["active_level_db"] = _spread([v for v in levels if v is not None])
            out.append(row)
    return out


def _spread(values: Sequence[float]) -> list[JsonValue]:
    if not values:
        return []
    return [round(v, 3) for v in (min(values), median(values), max(values))]


def _gap(means: Mapping[str, float | None]) -> float | None:
    known = [m for m in means.values() if m is not None]
    if len(known) < 2:
        return None
    return round((max(known) - min(known)) / (sum(known) / len(known)), 4)
