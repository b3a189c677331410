import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.build.g2p_process import PhonemeClient, shared_groups
from floorbench.errors import DataError, EnvironmentProblem

# A stand-in for the speech packages: upper case for sounds; "of the" melts into one group.
FAKE = {
    "misaki/__init__.py": "",
    "misaki/espeak.py": """
class EspeakFallback:
    def __init__(self, british):
        self.mark = "B" if british else ""
    def __call__(self, token):
        if token.text == "crash":
            raise SystemExit(3)
        if token.text == "bad":
            raise ValueError("no sound")
        return self.mark + token.text.upper().replace("OF THE", "OFTHE"), 2
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
        path.parent.mkdir(exist_ok=True)
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


def test_groups_that_melt_across_the_cut_are_spoken_in_two_parts(fake_speech):
    with PhonemeClient() as client:
        phonemes, count = client.ask(lang="en-us", text="of the best", prefix="of")
        assert phonemes.split(" ")[:count] in (["OF"], ["OFTHE"])
        phonemes, count = client.ask(lang="en-us", text="a of the b", prefix="a of the b of the")
        assert count is not None


def test_a_text_without_sounds_is_a_data_error_and_the_process_lives_on(fake_speech):
    with PhonemeClient() as client:
        with pytest.raises(DataError, match=r"FB903.*no sound"):
            client.ask(lang="en-us", text="bad")
        assert client.ask(lang="en-us", text="good")[0] == "GOOD"


def test_a_dead_process_is_named(fake_speech):
    with PhonemeClient() as client, pytest.raises(EnvironmentProblem, match="FB902"):
        client.ask(lang="en-us", text="crash")


def test_a_missing_package_names_the_extra(fake_speech):
    (fake_speech / "misaki" / "espeak.py").write_text("import a_package_nobody_has\n")
    with PhonemeClient() as client, pytest.raises(EnvironmentProblem, match="FB401") as caught:
        client.ask(lang="en-us", text="hello")
    assert "a_package_nobody_has" in str(caught.value)
    assert "floorbench[build]" in str(caught.value)


def test_prefix_groups_tolerate_another_stress_on_the_last_word_only():
    full = ["kæn", "ju", "tə", "ðə", "bˈæŋk"]
    assert shared_groups(full, ["kˈæn", "ju", "tˈu"]) == 3
    assert shared_groups(full, ["kæn", "wi", "tu"]) is None
    assert shared_groups(full, full) is None


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
