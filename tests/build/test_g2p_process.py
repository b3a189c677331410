import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.build.g2p_process import PhonemeClient, shared_groups
from floorbench.errors import DataError, EnvironmentProblem

# A stand-in for the speech packages: upper case for sounds; "of the" melts into one group.
FAKE = {
    "misaki/__init__.py": "",
    "espeakng_loader.py": """
def get_library_path(): return "library"
def get_data_path(): return "data"
""",
    "phonemizer/__init__.py": "",
    "phonemizer/backend/__init__.py": """
class EspeakBackend:
    def __init__(self, lang, preserve_punctuation, with_stress):
        assert preserve_punctuation and with_stress
        self.mark = "B" if lang == "en-gb" else ""
    def phonemize(self, texts):
        if texts == ["crash"]:
            raise SystemExit(3)
        if texts == ["bad"]:
            raise ValueError("no sound")
        return [self.mark + text.upper().replace("OF THE", "OFTHE") + " " for text in texts]
""",
    "phonemizer/backend/espeak/__init__.py": "",
    "phonemizer/backend/espeak/wrapper.py": """
class EspeakWrapper:
    @staticmethod
    def set_library(path): assert path == "library"
    @staticmethod
    def set_data_path(path): assert path == "data"
""",
    "misaki/zh.py": """
class ZHG2P:
    def __call__(self, text):
        return " ".join(text), None
""",
    "jieba.py": "def setLogLevel(level): pass\n",
}


@pytest.fixture
def fake_speech(tmp_path, monkeypatch):
    for name, text in FAKE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_answers_come_back_over_the_pipe(fake_speech):
    with PhonemeClient() as client:
        assert client.ask(lang="en-us", text="book a table") == ("BOOK A TABLE", None)
        assert client.ask(lang="en-gb", text="book it") == ("BBOOK IT", None)
        assert client.ask(lang="zh", text="你好") == ("你 好", None)


def test_a_prefix_is_counted_in_groups(fake_speech):
    with PhonemeClient() as client:
        _, count = client.ask(lang="en-us", text="one of the best", prefix="one of the")
        assert count == 2
        phonemes, count = client.ask(lang="zh", text="今天好", prefix="今天")
        assert (phonemes, count) == ("今 天 好", 2)


def test_a_prefix_that_ends_inside_a_melted_group_is_spoken_in_two_parts(fake_speech):
    with PhonemeClient() as client:
        phonemes, count = client.ask(lang="en-us", text="most of the best", prefix="most of")
        assert (phonemes, count) == ("MOST OF THE BEST", 2)


def test_a_mark_after_the_prefix_is_no_word(fake_speech):
    with PhonemeClient() as client:
        assert client.ask(lang="en-us", text="oh, nice one", prefix="oh") == ("OH, NICE ONE", 1)
        assert client.ask(lang="zh", text="好, 的", prefix="好") == ("好, 的", 1)


def test_a_text_without_sounds_is_a_data_error_and_the_process_lives_on(fake_speech):
    with PhonemeClient() as client:
        with pytest.raises(DataError, match=r"FB903.*no sound"):
            client.ask(lang="en-us", text="bad")
        assert client.ask(lang="en-us", text="good")[0] == "GOOD"


def test_a_dead_process_is_named(fake_speech):
    with PhonemeClient() as client, pytest.raises(EnvironmentProblem, match="FB902"):
        client.ask(lang="en-us", text="crash")


def test_a_missing_package_names_the_extra(fake_speech):
    (fake_speech / "espeakng_loader.py").write_text("import a_package_nobody_has\n")
    with PhonemeClient() as client, pytest.raises(EnvironmentProblem, match="FB401") as caught:
        client.ask(lang="en-us", text="hello")
    assert "a_package_nobody_has" in str(caught.value)
    assert "floorbench[build]" in str(caught.value)


def test_prefix_groups_tolerate_another_stress_on_the_last_word_only():
    full = ["kæn", "ju", "tə", "ðə", "bˈæŋk"]
    assert shared_groups(full, ["kˈæn", "ju", "tˈu"], ["ðə", "bˈæŋk"]) == 3
    assert shared_groups(full, ["kæn", "wi", "tu"], ["ðə", "bˈæŋk"]) is None
    assert shared_groups(full, ["kæn", "ju", "tu"], ["bˈæŋk"]) is None
    assert shared_groups(full, full, []) is None


def test_floorbench_itself_never_loads_the_gpl_libraries():
    code = (
        "import sys\n"
        "import floorbench.build.starter_codett, floorbench.build.starter_render\n"
        "from floorbench.build.g2p_process import PhonemeClient\n"
        "bad = {'phonemizer', 'espeakng_loader', 'misaki', 'kokoro_onnx'} & set(sys.modules)\n"
        "sys.exit(repr(bad) if bad else 0)\n"
    )
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
