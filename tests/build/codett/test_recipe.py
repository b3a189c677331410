"""The recipe on voices and ears that cost nothing; the engine's own tests are elsewhere."""

import json
from collections import Counter

import numpy as np
import pytest
import soundfile

from floorbench.build.codett import recipe as module
from floorbench.build.codett.consolidate import Split, leaks
from floorbench.build.codett.recipe import CodettRecipe
from floorbench.build.codett.stages import Lines
from floorbench.build.pipeline.engine import build
from floorbench.build.speech import voices
from floorbench.build.speech.providers import Can, Heard
from floorbench.build.speech.synthesise import lines_of
from floorbench.build.speech.voices import KOKORO
from floorbench.build.text.dialogue import dialogue_of, seeds
from floorbench.build.text.similarity import NearDuplicates
from floorbench.build.text.writer import Write
from floorbench.datasets.codett_labels import LABELS
from floorbench.datasets.open import open_dataset
from floorbench.errors import EnvironmentProblem, UsageError
from support import two_channel_tiny
from support.bench import FakeBench
from support.speech import FakeTTS

SMALL = {"per_label": 1, "spare": 0.0, "languages": ["en"]}


class Ear:
    """Reads back what the voice said last; mishears the first of each text when told to."""

    def __init__(self, tts, wrong=()):
        self.can = Can(deterministic=True)
        self.identity = {"name": "ear"}
        self.tts = tts
        self.wrong = set(wrong)

    def transcribe(self, audio, rate, *, language, careful=False):
        text = self.tts.calls[-1][0]
        return Heard(text="something else altogether" if text in self.wrong else text)


class Quiet:
    name = "quiet"
    hop = 512

    def load(self):
        pass

    def activity(self, samples):
        return np.zeros(len(samples) // self.hop)


@pytest.fixture
def speech(monkeypatch, tmp_path):
    """A cache with one noise and four babble recordings, a fake voice and a fake ear."""
    where = tmp_path / "speech-cache"
    rng = np.random.default_rng(5)
    noise = where / "speech" / "noise"
    talk = where / "babble" / "en"
    for folder, names in ((noise, ["tap"]), (talk, list("abcd"))):
        folder.mkdir(parents=True)
        credit = {"kind": "tap", "licence": "CC0"}
        for name in names:
            soundfile.write(folder / f"{name}.flac", 0.1 * rng.standard_normal(16_000), 16_000)
        table = {f"{name}.flac": credit for name in names}
        (folder / "credits.json").write_text(json.dumps(table))
    (where / "whisper-base").mkdir()
    tts = FakeTTS()
    monkeypatch.setattr(module.assets, "folder", lambda: where)
    monkeypatch.setattr(module, "make_tts", lambda *_, **__: tts)
    monkeypatch.setattr(module, "make_asr", lambda *_, **__: Ear(tts))
    monkeypatch.setattr(module, "SileroVad", Quiet)
    return tts


@pytest.mark.needs_speech
def test_a_build_is_read_by_the_codett_reader_and_has_every_label(speech, tmp_path):
    built = build(
        CodettRecipe(), out=tmp_path / "out", cache=tmp_path / "cache", settings=SMALL, workers=0
    )
    source = open_dataset(built.path)
    samples = list(source.samples())
    kept = {s.target["label"] for s in samples} if "label" in samples[0].target else None
    assert len(samples) + len(built.lost) >= len(LABELS)
    assert kept is None or kept <= set(LABELS)
    card = (built.path / "README.md").read_text()
    assert card.startswith("# A CoDeTT set")
    assert "- bursts: tap (CC0)" in card
    assert "- texts: embedded sentences (Apache-2.0); judged by rules" in card
    lineage = [json.loads(x) for x in (built.path / "lineage.jsonl").read_text().splitlines()]
    assert len(lineage) == len(samples)
    measured = json.loads((built.path / "report.json").read_text())["measured"]
    assert {r["stage"] for r in measured["sound"]} == {"before", "after"}
    assert "<svg" in (built.path / "build-report.html").read_text()
    for path in built.path.glob("audios/**/*.flac"):
        assert not any(label.split("_")[-1].lower() in path.name.lower() for label in LABELS)


def test_unknown_settings_and_values_are_refused(speech):
    recipe = CodettRecipe()
    for wrong in (
        {"per_lable": 1},
        {"per_label": 0},
        {"languages": ["de"]},
        {"labels": []},
        {"attempts": 0},
        {"splits": {"a": 0.5}},
        {"seed": 1},
    ):
        with pytest.raises(UsageError, match="FB851"):
            recipe.work(wrong)
    with pytest.raises(UsageError, match="FB884"):
        recipe.work({"scenes": {"SideTalk": {"loud": 1}}})


ONE = {"service": "openai", "model": "a"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"writer": {"service": "openai", "modle": "x"}, "judge": ONE}, "modle"),
        ({"writer": {"model": "x"}, "judge": ONE}, "service"),
        ({"writer": {"service": "openai", "model": 7}, "judge": ONE}, "model 7"),
        ({"writer": {"service": "openai"}, "judge": ONE}, "model ''"),
        ({"writer": {**ONE, "timeout": "soon"}, "judge": ONE}, "TypeError"),
        ({"aligners": ["qwen3"]}, "AttributeError"),
        ({"voices": {"en": ["a"]}}, "AttributeError"),
        ({"voices": {"en": {"user": ["a"], "third_party": ["a"]}}}, "'a' is both"),
        ({"splits": {"test": "x"}}, "TypeError"),
        ({"scenes": {"SideTalk": 7}}, "AttributeError"),
        ({"telephone": "g711"}, "g711"),
        ({"licences": [7]}, "names"),
        ({"mining": {"min_gap": "x"}, "real": "."}, "min_gap 'x'"),
        ({"mining": {"max_gap": float("nan")}, "real": "."}, "max_gap nan"),
        ({"mining": {"gap": 1}, "real": "."}, "'gap'"),
        ({"wer": -1.0}, "threshold"),
        ({"noise": "/nowhere"}, "no folder of recordings at /nowhere"),
    ],
)
def test_whatever_is_wrong_in_a_setting_is_said_in_one_line(speech, tmp_path, wrong, told):
    with pytest.raises(UsageError, match=r"FB8|FB5") as caught:
        build(
            CodettRecipe(),
            out=tmp_path / "out",
            cache=tmp_path / "cache",
            settings={**SMALL, **wrong},
            workers=0,
        )
    assert told in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_given_twice_counts_once(speech):
    twice = {"languages": ["en", "en"], "labels": [LABELS[0], LABELS[0]], "per_label": 1}
    assert len(CodettRecipe().work({**twice, "spare": 0.0}).seeds) == 1


def test_a_writing_model_needs_another_one_as_judge(speech):
    recipe = CodettRecipe()
    one = {"service": "openai", "model": "a", "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(UsageError, match="FB851"):
        recipe.work({**SMALL, "writer": one})
    with pytest.raises(UsageError, match="FB864"):
        recipe.work({**SMALL, "writer": one, "judge": one})
    work = recipe.work({**SMALL, "writer": one, "judge": {**one, "model": "b"}})
    assert not work.steps[0].maker.deterministic


def test_the_same_settings_give_the_same_work(speech):
    one, two = (CodettRecipe().work(SMALL) for _ in range(2))
    assert one.seeds == two.seeds
    assert len(one.seeds) == len(LABELS)
    presets = CodettRecipe.presets
    assert {name: p["per_label"] for name, p in presets.items()} == {
        "tiny": 1,
        "small": 4,
        "medium": 20,
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_a_medium_set_has_test_families_that_share_no_speaker(seed):
    """Texts and the choice of voices alone: what a build with two splits would tie together."""
    items = []
    for given in seeds(count=23):
        bench = FakeBench(given.id, seed=seed)
        item = Lines().make(Write().make(given, bench).items[0], bench).items[0]
        pools = KOKORO[item.fields["language"]]
        casts = voices.casts_of(pools)
        heard = {
            voices.choose(
                pools[line.role], seed=seed, family=item.fields["family"], role=line.role,
                casts=casts,
            )
            for line in lines_of(dialogue_of(item))
        }  # fmt: skip
        items.append(item.having(speakers=sorted(heard)))
    out = Split(shares={"train": 0.75, "test": 0.25}).gather(NearDuplicates().gather(items).items)
    assert leaks(out.items) == []
    for language in ("en", "zh"):
        own = [i.fields for i in out.items if i.fields["language"] == language]
        families = {(f["split"], f["family"]) for f in own}
        assert Counter(split for split, _ in families)["test"] >= 3
        assert {split for split, _ in families} == {"train", "test"}


def test_without_voices_it_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(module.assets, "folder", lambda: tmp_path / "none")
    with pytest.raises(EnvironmentProblem, match="FB907") as caught:
        CodettRecipe().work({})
    assert "assets get speech" in str(caught.value.hint)


def test_nothing_is_built_inside_the_corpus_that_is_mined(tmp_path):
    corpus = tmp_path / "calls"
    two_channel_tiny.build(corpus, ("sw9001",))
    for out, cache in (("calls/made", "cache"), ("made", "calls/.cache")):
        with pytest.raises(UsageError, match=r"FB837 .* lies inside '.*calls', which the recipe"):
            build(
                CodettRecipe(),
                out=tmp_path / out,
                cache=tmp_path / cache,
                settings={**SMALL, "real": str(corpus)},
                workers=0,
            )


@pytest.mark.needs_speech
def test_real_candidates_come_in_after_review(speech, tmp_path):
    corpus = tmp_path / "calls"
    two_channel_tiny.build(corpus, ("sw9001",))
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, (8_000 * 60, 2))
    soundfile.write(corpus / "sw9001.wav", noise, 8_000)
    settings = {**SMALL, "labels": ["SystemIdle_Takeover_Completion"], "most": 2}
    settings["real"] = str(corpus)
    draft = build(
        CodettRecipe(), out=tmp_path / "one", cache=tmp_path / "cache", settings=settings, workers=0
    )
    card = " ".join((draft.path / "README.md").read_text().split())
    assert "nobody has heard them" in card
    assert "the licence of these recordings is their corpus's" in card
    assert "Synthetic speech" not in card
    candidates = list(open_dataset(draft.path).samples())
    assert len(candidates) == draft.record.finished > 1
    assert not speech.calls
    accepted, refused, *_ = [s.id for s in candidates if s.target["label"] == settings["labels"][0]]
    rows = [{"id": accepted, "verdict": "accept"}, {"id": refused, "verdict": "reject"}]
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings["verdicts"] = str(verdicts)
    second = build(
        CodettRecipe(), out=tmp_path / "two", cache=tmp_path / "cache", settings=settings, workers=0
    )
    lost = {one.item: one.reason for one in second.lost}
    assert lost.pop(refused) == "review"
    assert accepted not in lost
    assert {s.id for s in candidates} - {accepted, refused} <= set(lost)
    finished = {s.id for s in open_dataset(second.path).samples()}
    assert accepted in finished
    assert "en-idle-completion-000" in finished
    assert list((second.path / "jsonls" / "EN" / "real").rglob("*.jsonl"))


@pytest.mark.needs_speech
def test_a_written_dialogue_that_people_rejected_is_left_out(speech, tmp_path):
    verdicts = tmp_path / "verdicts.jsonl"
    rows = [("en-idle-completion-000", "reject"), ("en-idle-completion-001", "accept")]
    verdicts.write_text("".join(json.dumps({"id": i, "verdict": v}) + "\n" for i, v in rows))
    built = build(
        CodettRecipe(),
        out=tmp_path / "out",
        cache=tmp_path / "cache",
        settings={
            **SMALL,
            "spare": 1.0,
            "labels": ["SystemIdle_Takeover_Completion"],
            "verdicts": str(verdicts),
        },
        workers=0,
    )
    assert [s.id for s in open_dataset(built.path).samples()] == ["en-idle-completion-001"]
    assert [(x.item, x.reason) for x in built.lost] == [("en-idle-completion-000", "review")]
