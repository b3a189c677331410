import json
from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.trp_files import STIMULI
from support import trp_scored, trp_tiny
from support.listening import make_set

RULES = (
    "--pause", "0.2", "--max-pause", "2", "--backchannel", "0.5", "--shortest", "1",
    "--longest", "60",
)  # fmt: skip
TALK = "\n".join(
    [
        'File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "4", "<exists>", "2",
        '"IntervalTier"', '"words"', "0", "4", "4",
        "0", "1", '"yes."', "1", "2", '"then"', "2", "3", '"home"', "3", "4", '""',
        '"IntervalTier"', '"turns"', "0", "4", "2", "0", "3", '"x"', "3", "4", '""',
    ]
)  # fmt: skip


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(argv))
    return int(ended.value.code or 0)


def test_from_an_annotation_to_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "talk.TextGrid").write_text(TALK)
    source, out = str(tmp_path / "talk.TextGrid"), str(tmp_path / "set")
    done = run("stimuli", "cut", source, "-o", out, "--words", "words", "--turns", "turns", *RULES)
    assert done == 0
    shown = capsys.readouterr()
    assert shown.out == f"{out}\n"
    assert "1 turn, 0 with audio" in shown.err
    (stimulus,) = TrpSource(out).stimuli
    assert [w.text for w in stimulus.words] == ["yes", "then", "home"]
    assert run("stimuli", "lists", out, "--gap", "1", "--seed", "1", "--count", "1") == 2
    assert "FB275" in capsys.readouterr().err


def test_lists_and_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_set(tmp_path / "set")
    assert run("stimuli", "lists", str(tmp_path / "set"), "--gap", "2", "--seed", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [x.split("\t")[0] for x in lines] == [
        f"lists/{name}.wav" for name in ("A", "A-reversed", "B", "B-reversed")
    ]
    assert run("stimuli", "stats", str(tmp_path / "set"), "--form", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [r["name"] for r in found["rows"][:2]] == ["list A", "list B"]


@pytest.mark.parametrize(
    ("more", "code"),
    [(("--turns", "turns"), "FB271"), (("--words", "words"), "FB271"),
     (("--words", "words", "--turns", "turns", "--channel", "left"), "FB103"),
     (("--words", "words", "--turns", "none"), "FB272")],
)  # fmt: skip
def test_calls_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], code: str
) -> None:
    (tmp_path / "talk.TextGrid").write_text(TALK)
    source, out = str(tmp_path / "talk.TextGrid"), str(tmp_path / "set")
    assert run("stimuli", "cut", source, "-o", out, *more, *RULES) == 2
    assert code in capsys.readouterr().err
    assert not (tmp_path / "set" / STIMULI).exists()


def test_a_plot_of_one_stimulus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "f.svg"
    assert run("stimuli", "plot", "starter:trp", "allotment", "-o", str(target)) == 0
    assert target.read_text().startswith("<svg")
    assert run("stimuli", "plot", "starter:codett", "allotment", "-o", str(target)) == 2
    assert "FB211" in capsys.readouterr().err


def test_a_run_on_a_split_is_plotted_on_that_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = trp_tiny.build(tmp_path / "data")
    path = str(trp_scored.ran(tmp_path, data, split="dev"))
    plot = ("stimuli", "plot", str(data), "one", path, "-o", str(tmp_path / "f.svg"))
    assert run(*plot) == 2
    assert "--reader-set split=NAME" in capsys.readouterr().err
    assert run(*plot, "--reader-set", "split=dev") == 0
    assert (tmp_path / "f.svg").read_text().startswith("<svg")
