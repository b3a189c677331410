"""A path in the data stays in the dataset's folder."""

import pytest

from floorbench.audio.paths import inside
from floorbench.errors import DataError


def test_plain_and_nested_paths(tmp_path):
    assert inside(tmp_path, "a.wav") == tmp_path.resolve() / "a.wav"
    assert inside(tmp_path, "x/../y/a.wav") == tmp_path.resolve() / "y" / "a.wav"
    assert inside(tmp_path, "x\\y\\a.wav") == tmp_path.resolve() / "x" / "y" / "a.wav"


@pytest.mark.parametrize(
    "bad", ["", "../a.wav", "x/../../a.wav", "/etc/passwd", "C:\\a.wav", "..\\a.wav", "a\0.wav"]
)
def test_paths_that_leave_are_refused(tmp_path, bad):
    with pytest.raises(DataError) as caught:
        inside(tmp_path, bad)
    assert caught.value.code == "FB308"


def test_links_are_followed_before_judging(tmp_path):
    root, other = tmp_path / "data", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "a.wav").write_bytes(b"x")
    (root / "out").symlink_to(other)
    (root / "real").mkdir()
    (root / "in").symlink_to(root / "real")
    with pytest.raises(DataError, match="leads outside"):
        inside(root, "out/a.wav")
    assert inside(root, "in/a.wav") == (root / "real" / "a.wav").resolve()
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(DataError, match="FB308"):
        inside(root, "loop/a.wav")


def test_a_root_that_is_a_link(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert inside(tmp_path / "link", "a.wav") == (tmp_path / "data").resolve() / "a.wav"
