import json
from pathlib import Path

import pytest

from support import codett_tiny, packs
from support.cli_calls import called

Capture = pytest.CaptureFixture[str]


def test_pack_check_and_run(tmp_path: Path, capsys: Capture) -> None:
    packs.clips(tmp_path / "clips")
    out = str(tmp_path / "packed")
    code, said, talk = called(
        capsys, "data", "pack", str(tmp_path / "clips"), "--out", out, "--per-shard", "4"
    )
    assert (code, said) == (0, f"{out}\n")
    assert "6 samples in 2 shards" in talk
    code, said, _ = called(capsys, "data", "check", out)
    assert code == 0
    assert "clips: 6 samples, 2 shards" in said
    assert "no faults" in said
    runs = str(tmp_path / "runs")
    for data in (str(tmp_path / "clips"), out, f"file://{out}"):
        code, said, _ = called(
            capsys, "run", "clips", "silence-webrtc", "--data", data, "--out", runs, "--json"
        )
        assert code == 0
        assert json.loads(said)["coverage"]["expected"] == 6


def test_a_list_of_nothing_says_so(tmp_path: Path, capsys: Capture) -> None:
    packs.clips(tmp_path / "clips")
    code, said, talk = called(
        capsys, "data", "list", str(tmp_path / "clips"), "--where", "lable=complete"
    )
    assert (code, said) == (0, "")
    assert "no sample is like that" in talk


def test_a_fault_is_printed_and_exits_1(tmp_path: Path, capsys: Capture) -> None:
    folder = packs.packed(tmp_path)
    (folder / "shard-000001.tar").unlink()
    code, said, _ = called(capsys, "data", "check", str(folder))
    assert code == 1
    assert "FB282" in said
    assert "1 fault" in said
    code, said, _ = called(capsys, "data", "check", str(folder), "--json")
    assert code == 1
    assert [f["code"] for f in json.loads(said)["faults"]] == ["FB282"]


def test_samples_are_listed_and_counted(tmp_path: Path, capsys: Capture) -> None:
    folder = str(packs.packed(tmp_path, "codett"))
    for data in (folder, str(tmp_path / "codett")):
        code, said, _ = called(capsys, "data", "list", data)
        assert (code, len(said.splitlines())) == (0, 14)
        code, said, _ = called(
            capsys, "data", "list", data, "--where", "action=Takeover", "--limit", "1", "--json"
        )
        told = json.loads(said)
        assert told["tags"]["action"] == "Takeover"
        assert set(told) == {"id", "cluster", "stratum", "tags"}
        code, said, _ = called(capsys, "data", "show", data, "--where", "action=Takeover")
        assert code == 0
        assert "(action=Takeover) unknown: 2 samples" in said
        code, said, _ = called(capsys, "data", "show", data, "--json", "--digest")
        told = json.loads(said)
        assert told["samples"] == 14
        assert sum(told["tags"]["state"].values()) == 14
        assert len(told["digest"]) == 64


def test_many_values_are_summed_up(tmp_path: Path, capsys: Capture) -> None:
    codett_tiny.build(tmp_path / "set", audio=False, history=0)
    _, said, _ = called(capsys, "data", "show", str(tmp_path / "set"))
    assert "(1 more)" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("pack", "--shard-size", "lots"), "--shard-size 'lots' is no size"),
        (("pack", "--per-shard", "0"), "must be above 0"),
        (("pack", "--where", "label"), "is not NAME=VALUE"),
        (("list", "--limit", "0"), "--limit 0"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, capsys: Capture, options: tuple[str, ...], says: str
) -> None:
    packs.clips(tmp_path / "clips")
    command, *rest = options
    out = ["--out", str(tmp_path / "out")] if command == "pack" else []
    code, _, talk = called(capsys, "data", command, str(tmp_path / "clips"), *rest, *out)
    assert code == 2
    assert says in talk
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "size"), [("512MB", 512_000_000), ("1.5 GB", 1_500_000_000), ("10", 10), ("2kB", 2000)]
)
def test_sizes(text: str, size: int) -> None:
    from floorbench.cli.data_pack import _bytes

    assert _bytes(text) == size


def test_an_address_that_nobody_knows(capsys: Capture) -> None:
    code, _, talk = called(capsys, "data", "show", "teapot://me:pa55word@host/set")
    assert code == 2
    assert "FB286" in talk
    assert "pa55word" not in talk
