import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.datasets.shard_index import HEADER, check_member_name, read_header, read_index
from floorbench.errors import DataError
from support import packs

Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda h: h["shards"][0].update(file="../../etc/passwd"), "FB287 .*not a plain file name"),
        (lambda h: h["shards"][0].update(index="/a.jsonl"), "FB287 .*not a plain file name"),
        (lambda h: h["shards"][0].update(file="a\\b.tar"), "FB287"),
        (lambda h: h["shards"][0].update(file="shard.zip"), "FB287"),
        (lambda h: h["shards"][0].update(index_size=1 << 40), "FB287 .*impossible size"),
        (lambda h: h["shards"][0].update(size=-1), "FB287 .*impossible size"),
        (lambda h: h["shards"][1].update(file="shard-000000.tar"), "FB285 .*stands twice"),
        (lambda h: h["shards"].pop(), "FB285 .*do not add up"),
        (lambda h: h["shards"][0].update(samples=0), "FB285 .*holds 0 samples"),
    ],
)
def test_a_header_that_means_harm_is_refused(tmp_path: Path, change: Change, says: str) -> None:
    folder = packs.packed(tmp_path)
    packs.rewrite(folder, change)
    with pytest.raises(DataError, match=says):
        read_header(str(folder))


def test_a_header_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    plain = json.loads((folder / HEADER).read_text())
    for change in ({"digest": "1" * 64}, {"name": "other"}, {"samples": 7}):
        (folder / HEADER).write_text(json.dumps({**plain, **change}))
        with pytest.raises(DataError, match=r"FB281 .*does not match its own digest"):
            read_header(str(folder))
    for text, says in (
        ("[]", "FB281 .*not of format"),
        ('{"format": "floorbench-shards-1"}', "FB281 .*malformed"),
        ("{", "FB201"),
    ):
        (folder / HEADER).write_text(text)
        with pytest.raises(DataError, match=says):
            read_header(str(folder))
    (folder / HEADER).unlink()
    with pytest.raises(DataError, match="FB282"):
        read_header(str(folder))


def test_a_pipe_is_refused_not_waited_for(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    for name in ("shard-000001.jsonl", "shard-000000.tar"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(DataError, match=f"FB287 .*{name}: is not a plain file"):
            read_header(str(folder))


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    (folder / "shard-000001.tar").rename(tmp_path / "elsewhere.tar")
    (folder / "shard-000001.tar").symlink_to(tmp_path / "elsewhere.tar")
    with pytest.raises(DataError, match=r"FB287 .*shard-000001.tar: is a link"):
        read_header(str(folder))


def test_an_index_keeps_to_the_header(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    shard = read_header(str(folder)).shards[0]
    entries = list(read_index(str(folder), shard, first=0))
    assert [e.key for e in entries] == ["000000000", "000000001"]
    with pytest.raises(DataError, match=r"FB285 .*key is '000000000', at this place it is"):
        list(read_index(str(folder), shard, first=1))
    path = folder / shard.index
    data = path.read_bytes()
    path.write_bytes(data[:-9])
    with pytest.raises(DataError, match="FB283"):
        list(read_index(str(folder), shard, first=0))
    path.write_bytes(data + b" ")
    with pytest.raises(DataError, match=r"FB287 .*more than"):
        list(read_index(str(folder), shard, first=0))
    path.write_bytes(data.replace(b"complete", b"COMPLETE"))
    with pytest.raises(DataError, match="FB284"):
        list(read_index(str(folder), shard, first=0))
    path.unlink()
    with pytest.raises(DataError, match="FB282"):
        list(read_index(str(folder), shard, first=0))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda e: e.update(members={"../x.wav": [0, 9, ""]}), "FB287 .*not the name of a member"),
        (lambda e: e["members"]["user.wav"].__setitem__(0, 1 << 50), "FB287 .*the shard holds"),
        (lambda e: e["members"]["user.wav"].__setitem__(1, 1 << 40), "FB287 .*the shard holds"),
        (lambda e: e["members"]["user.wav"].__setitem__(0, -1), "FB287"),
        (lambda e: e["json"].__setitem__(1, 0), "FB287"),
        (lambda e: e["json"].append(1), "FB285 .*malformed"),
        (lambda e: e.update(more=1), "FB285 .*malformed"),
        (lambda e: e.update(key="000000001"), "FB285 .*the key is"),
    ],
)
def test_an_entry_that_means_harm_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    folder = packs.packed(tmp_path)
    packs.edit_index(folder, lambda lines: change(lines[0]))
    shard = read_header(str(folder)).shards[0]
    with pytest.raises(DataError, match=says) as caught:
        list(read_index(str(folder), shard, first=0))
    assert "shard-000000.jsonl:1" in str(caught.value)


def test_a_line_too_few_is_noticed(tmp_path: Path) -> None:
    folder = packs.packed(tmp_path)
    packs.edit_index(folder, lambda lines: lines.pop())
    shard = read_header(str(folder)).shards[0]
    with pytest.raises(DataError, match=r"FB285 .*1 sample in the index, 2 in the header"):
        list(read_index(str(folder), shard, first=0))


def test_names_of_members() -> None:
    assert check_member_name("000000001.user.wav")
    for name in ("../a", "a/b.wav", "/a", "a..b", ".a", "A.wav", "a.wav/", "", "a\0b", "a" * 90):
        assert not check_member_name(name)
