import shutil
from pathlib import Path

import pytest

from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError, UsageError
from floorbench.report.trp_figure import picture
from floorbench.tasks.trp import TrpTask
from floorbench.web.listen import ListeningRoom
from floorbench.web.listen_export import export, forget
from floorbench.web.listen_onsets import find
from floorbench.web.listen_store import Session
from support.listening import LoudVad, make_set, spoken
from support.listening_wire import Page, room, serving


@pytest.fixture
def three(tmp_path: Path) -> ListeningRoom:
    """Three by key (one of them silent, one heard half), one by voice."""
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="key")
    with serving(made) as served:
        page = Page(served.port)
        page.hear_by_key("p01", {0: [0.9, 1.9], 1: [1.05]})
        page.hear_by_key("p02", {0: [], 1: []})
        page.hear_by_key("p03", {0: [0.95]})
    voice = room(tmp_path, mode="voice")
    with serving(voice) as served:
        Page(served.port).hear_by_voice("p04", {0: spoken(1.0), 1: spoken(1.1)})
    return room(tmp_path, mode="key")


def test_the_set_is_read_and_labelled(three: ListeningRoom, tmp_path: Path) -> None:
    session = three.session
    with pytest.raises(DataError, match="FB847"):
        export(session, tmp_path / "set")
    find(session, session.stimuli(tmp_path / "set"), detector=LoudVad())
    made = export(session, tmp_path / "set")
    assert (made.participants, made.turns, made.responses) == (4, 7, 6)
    assert made.uncalibrated == made.unsteady == ()
    source = TrpSource(made.path)
    assert source.panels is not None
    first = session.person("p03").items[0].stimulus
    other = next(s.id for s in source.stimuli if s.id != first)
    assert "p03" in source.panels[first].roster
    assert "p03" not in source.panels[other].roster
    assert "p02" in source.panels[first].roster  # silent, and counted
    heard_first = session.person("p01").items[0].stimulus
    assert source.panels[heard_first].onsets["p01"] == (800_000, 1_800_000)  # less 0.1 s
    spoken_at = source.panels[session.person("p04").items[0].stimulus].onsets["p04"]
    assert spoken_at == pytest.approx([800_000], abs=8_000)  # less 0.2 s
    task = TrpTask()
    gold = [task.gold(s).label for s in source.samples()]
    assert len(gold) == sum(len(s.words) for s in source.stimuli)
    assert {"yes", "no"} == set(gold)


def test_exporting_twice_gives_the_same_bytes(three: ListeningRoom, tmp_path: Path) -> None:
    find(three.session, three.session.stimuli(tmp_path / "set"), detector=LoudVad())
    made = export(three.session, tmp_path / "set")
    first = {p.name: p.read_bytes() for p in made.path.iterdir()}
    export(Session(three.session.folder), tmp_path / "set")
    assert {p.name: p.read_bytes() for p in made.path.iterdir()} == first


def test_forgetting_one_leaves_the_rest_bit_identical(three: ListeningRoom, tmp_path: Path) -> None:
    session = three.session
    find(session, session.stimuli(tmp_path / "set"), detector=LoudVad())
    made = export(session, tmp_path / "set")
    shutil.copytree(session.folder, tmp_path / "before")
    assert forget(Session(session.folder), "p01")

    def files(root: Path) -> dict[str, bytes]:
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    before, after = files(tmp_path / "before"), files(session.folder)
    gone = {name for name in before if name not in after}
    assert gone
    assert all(name.startswith("participants/p01/") for name in gone)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"dataset/roster.json", "dataset/responses.jsonl"}
    lines = before["dataset/responses.jsonl"].splitlines()
    assert after["dataset/responses.jsonl"].splitlines() == [x for x in lines if b"p01" not in x]
    assert b"p01" not in b"".join(after.values())
    assert TrpSource(made.path).describe()["listeners"] == 3
    export(Session(session.folder), tmp_path / "set")
    assert files(session.folder) == after
    assert not forget(Session(session.folder), "p01")


def test_presses_of_an_interrupted_turn_do_not_count(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="key")
    with serving(made) as served:
        page = Page(served.port)
        page.done("join", id="p01", agreed=True)
        page.done("key", id="p01", item=0, visit=1, time=0.5)
        page.done("join", id="p01", agreed=True)
        page.done("key", id="p01", item=0, visit=2, time=1.5)
        page.done("item", id="p01", item=0, visit=2, started=1.0, facts={})
    report = export(made.session, tmp_path / "set")
    assert report.uncalibrated == ("p01",)
    source = TrpSource(report.path)
    assert source.panels is not None
    heard = made.session.person("p01").items[0].stimulus
    assert source.panels[heard].onsets["p01"] == (1_500_000,)


def test_responses_before_and_after_the_turn_are_kept_and_counted(tmp_path: Path) -> None:
    make_set(tmp_path / "set")
    made = room(tmp_path, mode="key")
    with serving(made) as served:
        Page(served.port).hear_by_key("p01", {0: [-0.3, 1.0, 9.0]})
    report = export(made.session, tmp_path / "set")
    source = TrpSource(report.path)
    assert source.panels is not None
    heard = made.session.person("p01").items[0].stimulus
    assert source.panels[heard].onsets["p01"] == (-400_000, 900_000, 8_900_000)
    shown = picture(source, heard)
    assert sum(slot["share"] for slot in shown.slots) == 1.0  # the one inside


def test_other_stimuli_are_refused(three: ListeningRoom, tmp_path: Path) -> None:
    make_set(tmp_path / "other", turns={"one": 2.0, "two": 2.5})
    with pytest.raises(UsageError, match="FB842"):
        export(three.session, tmp_path / "other")
