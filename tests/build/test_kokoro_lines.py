from pathlib import Path

import numpy as np
import pytest

from floorbench.build import kokoro
from floorbench.build.kokoro_lines import SpokenLines, digest_of

LINE = {"phonemes": "ab", "voice": "af_heart", "speed": 1.0}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the voice was asked to say; it knows all symbols but x."""
    asked: list[str] = []

    class Voice:
        def __init__(self, assets: Path) -> None:
            asked.append(f"loaded {assets.name}")

        def say(self, *, phonemes: str, voice: str, speed: float) -> kokoro.Speech:
            asked.append(phonemes)
            return kokoro.Speech(
                samples=np.full(600, speed, np.float32),
                phonemes=phonemes.replace("x", ""),
                frames=np.arange(4),
            )

    monkeypatch.setattr(kokoro, "Kokoro", Voice)
    return asked


def test_equal_lines_are_spoken_once(said: list[str], tmp_path: Path) -> None:
    lines = SpokenLines(assets=tmp_path / "assets", folder=tmp_path / "lines")
    assert said == []
    first, again = (lines.say(**LINE | {"phonemes": "axb"}) for _ in range(2))
    assert said == ["loaded assets", "axb"]
    assert first.phonemes == again.phonemes == "ab"
    np.testing.assert_array_equal(first.samples, again.samples)
    np.testing.assert_array_equal(first.frames, again.frames)
    other = SpokenLines(assets=tmp_path / "other", folder=tmp_path / "lines")
    np.testing.assert_array_equal(other.say(**LINE | {"phonemes": "axb"}).samples, first.samples)
    assert len(said) == 2


@pytest.mark.parametrize("change", [{"phonemes": "b"}, {"voice": "am_puck"}, {"speed": 1.1}])
def test_another_line_is_spoken_anew(
    change: dict[str, object], said: list[str], tmp_path: Path
) -> None:
    lines = SpokenLines(assets=tmp_path, folder=tmp_path / "lines")
    lines.say(**LINE)
    lines.say(**LINE | change)
    assert len(said) == 3
    assert len([p for p in (tmp_path / "lines").iterdir() if p.suffix == ".npz"]) == 2


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest_of({"a": 1, "b": "é"}) == digest_of({"b": "é", "a": 1}) != digest_of([])
