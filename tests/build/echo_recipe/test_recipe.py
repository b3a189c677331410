"""Whole builds of matched contrasts with a voice of tones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench.build.echo_recipe.recipe import DEFAULTS, EchoRecipe, authors, licence
from floorbench.build.echo_recipe.texts import FOLDER
from floorbench.build.pipeline.engine import Built, build
from floorbench.build.pipeline.export import UNLISTED
from floorbench.core.vocab import Role
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.echo_audio import listening
from floorbench.datasets.echo_integrity import faults, group_types
from floorbench.errors import EnvironmentProblem, UsageError
from support.echo_built import FailingTTS


def made(tmp: Path, name: str = "a", *, recipe: str = "Tones", **more: Any) -> Built:
    workers = more.pop("workers", 0)
    return build(
        f"support.echo_built:{recipe}Recipe",
        out=tmp / name,
        cache=tmp / f"cache-{name}",
        preset="tiny",
        workers=workers,
        settings={"spare": 0, **more},
    )


def content(out: Path) -> dict[str, bytes]:
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in UNLISTED]
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in files}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return made(tmp_path_factory.mktemp("echo"))


def test_a_tiny_build_keeps_every_rule_of_the_format(tiny: Built) -> None:
    source = EchoSource(tiny.path)
    assert list(faults(source.rows, source.pairs)) == []
    assert tiny.lost == ()
    types = Counter((g[:2], kind) for g, kind in group_types(source.rows).items())
    assert types == Counter(
        {(lang, k): 1 for lang in ("en", "zh") for k in ("I-B", "I-O", "B-O", "three-role")}
    )
    assert len(source.rows) == 18
    assert len(list(source.samples())) == 18
    assert len(source.pairs) == 12


def test_the_insertion_starts_where_the_words_before_it_end(tiny: Built) -> None:
    source = EchoSource(tiny.path)
    for row, at in source.rows:
        user = source.channel(row, Role.USER, place=at)
        system = source.channel(row, Role.SYSTEM, place=at)
        assert user is not None
        assert system is not None
        assert user.frames == system.frames
        e = row.events
        heard = np.flatnonzero(user.read())
        assert heard[0] / user.rate == pytest.approx(e.insertion_start, abs=0.002)
        assert heard[-1] / user.rate == pytest.approx(e.insertion_end, abs=0.02)
        said = (e.insertion_start - e.system_start) / (e.system_end - e.system_start)
        assert 0.15 < said < 0.85
        assert np.max(np.abs(system.read(start=e.system_end - 0.3, end=e.system_end))) > 0.01


def test_one_voice_says_the_insertion_of_a_group_and_never_the_assistants(tiny: Built) -> None:
    source = EchoSource(tiny.path)
    by_group: dict[str, set[str]] = {}
    for row, _ in source.rows:
        by_group.setdefault(row.group_id, set()).add(row.tags["voice"])
    assert all(len(v) == 1 for v in by_group.values())
    spoken = {part for v in by_group.values() for voice in v for part in voice.split("+")}
    assert not spoken & {"af_heart", "zf_xiaoxiao"}


def test_the_listening_version_is_the_observable_one_until_the_onset(tiny: Built) -> None:
    import soundfile

    source = EchoSource(tiny.path)
    table = [json.loads(x) for x in (tiny.path / "listening.jsonl").read_text().splitlines()]
    heard_of = {row["sample_id"]: row for row in table}
    for row, at in source.rows:
        for role in (Role.USER, Role.SYSTEM):
            audio = source.channel(row, role, place=at)
            assert audio is not None
            given = audio.read()
            kept, _ = soundfile.read(
                tiny.path / heard_of[row.sample_id][role.value], dtype="float32"
            )
            onset = row.events.insertion_start
            derived = listening(
                given, rate=audio.rate, onset=onset, role=role.value, how=row.listening
            )
            np.testing.assert_allclose(kept, derived, atol=1 / 32768)
            assert np.array_equal(given, kept) == (row.role != "interruption")


def test_audits_and_lineage_lie_in_the_set(tiny: Built) -> None:
    found = json.loads((tiny.path / "audits.json").read_text("utf-8"))
    assert found["size"]["pairs"] == {"I-B": 4, "I-O": 4, "B-O": 4}
    assert found["shortcuts"] is None
    assert "3 groups" in found["why_no_shortcuts"]
    assert set(found["languages"]) == {"en", "zh"}
    rows = {(r["language"], r["role"]): r for r in found["measured"]}
    assert len(rows) == 6
    assert all(r["samples"] == 3 for r in rows.values())
    assert all(r["active_level_db"][0] > -27 for r in rows.values())
    items = [json.loads(x) for x in (tiny.path / "items.jsonl").read_text("utf-8").splitlines()]
    assert all(0.9 <= r["stretch"] <= 1.1 for i in items for r in i["speech"])
    lineage = [json.loads(x) for x in (tiny.path / "lineage.jsonl").read_text("utf-8").splitlines()]
    kinds = {n["kind"] for row in lineage for s in row["steps"] for n in s["notes"]}
    assert {"text", "judge", "voice", "recogniser", "placed"} <= kinds
    sound = json.loads((tiny.path / "report.json").read_text("utf-8"))["measured"]["sound"]
    assert {r["group"] for r in sound} == {"interruption", "backchannel", "off-talk"}
    assert {r["stage"] for r in sound if r["measure"] == "Loudness (LUFS)"} == {"before", "after"}
    page = (tiny.path / "build-report.html").read_text("utf-8")
    assert page.count("the same in numbers") == page.count("<svg") == 2
    assert "matched-contrast" in (tiny.path / "README.md").read_text("utf-8")


def test_two_workers_make_the_same_set(tiny: Built, tmp_path: Path) -> None:
    assert content(made(tmp_path, "b", workers=2).path) == content(tiny.path)


def test_a_changed_insertion_is_rejected_and_counted(tmp_path: Path) -> None:
    built = made(tmp_path, recipe="Lying", languages=["en"])
    assert [(x.item, x.reason) for x in built.lost] == [
        ("en-000", "insertion-changed"),
        ("en-001", "insertion-changed"),
    ]
    checked = next(s for s in built.record.stages if s.stage == "check-rewrite")
    assert checked.rejected == {"insertion-changed": 2}
    source = EchoSource(built.path)
    assert list(faults(source.rows, source.pairs)) == []


def test_a_voice_that_fails_loses_its_group_and_no_other(tmp_path: Path) -> None:
    built = made(tmp_path, recipe="Failing", languages=["en"], groups=12)
    failed = [x for x in built.lost if x.kind == "failed"]
    assert failed
    assert {x.stage for x in failed} == {"synthesise"}
    assert len({x.item.rpartition("-")[0] for x in failed}) == 1
    rows = EchoSource(built.path).rows
    assert FailingTTS().fails_at not in {row.insertion for row, _ in rows}
    assert len({row.group_id for row, _ in rows}) == 11
    found = json.loads((built.path / "audits.json").read_text("utf-8"))
    assert {row["probe"] for row in found["shortcuts"]["listening"]} == {
        "text", "loudness and duration", "channels"
    }  # fmt: skip


def test_a_rejected_sample_takes_a_pair_along(tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text('{"id": "en-000-i", "verdict": "reject"}\n', "utf-8")
    built = made(tmp_path, languages=["en"], verdicts=str(verdicts))
    assert {(x.item, x.reason) for x in built.lost} == {
        ("en-000-i", "review"), ("en-000-b", "one-role")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"groups": 0}, "FB851"),
        ({"languages": ["fr"]}, "FB851"),
        ({"types": []}, "FB851"),
        ({"group": 3}, "FB851"),
        ({"groups": 400}, "FB831"),
    ],
)
def test_settings_out_of_range_are_refused(
    settings: dict[str, Any], code: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=code):
        made(tmp_path, **settings)


def test_speech_that_is_not_prepared_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="FB907"):
        EchoRecipe().work({})


def test_a_model_rewrites_where_one_is_named() -> None:
    recipe = EchoRecipe()
    one = recipe.rewriter({**DEFAULTS, "rewriter": "toy-1", "rewriter_key_env": ""}, FOLDER)
    assert one.settings()["rewriter"] == "toy-1"
    assert not one.deterministic
    assert recipe.rewriter(DEFAULTS, FOLDER).deterministic


def test_nobody_gives_a_licence_to_texts_from_elsewhere() -> None:
    assert licence(DEFAULTS) == "Apache-2.0"
    assert authors(DEFAULTS) == {"texts": "embedded dialogues (Apache-2.0)"}
    own, asked = {**DEFAULTS, "texts": "mine"}, {**DEFAULTS, "rewriter": "toy-1"}
    assert licence(own).startswith("undecided")
    assert "mine" not in str(authors(own))
    assert licence(asked).startswith("undecided")
    assert str(authors(asked)["contexts"]).startswith("rewritten by toy-1")


def test_presets_are_made_of_settings() -> None:
    assert all(set(given) <= set(DEFAULTS) for given in EchoRecipe.presets.values())
