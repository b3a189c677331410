import json

import soundfile

from floorbench.build.sound.pools import Pool
from floorbench.build.speech import babble
from support.speech import FakeTTS

VOICES = {"en": {"user": ("u",), "babble": ("a", "b")}}
LINES = {"en": ("One two three.", "Four five.")}


def prepared(folder, tts):
    return babble.prepare(folder, tts, voices=VOICES, sentences=LINES)


def test_every_voice_says_every_sentence_once_and_is_credited(tmp_path):
    tts = FakeTTS()
    folder = prepared(tmp_path, tts)
    assert len(tts.calls) == 4
    assert {voice for _, voice, _ in tts.calls} == {"a", "b"}
    pool = Pool(folder / "en", licences=(babble.LICENCE,))
    assert [r.name for r in pool.recordings] == ["a-1.flac", "a-2.flac", "b-1.flac", "b-2.flac"]
    assert {r.kind for r in pool.recordings} == {babble.KIND}
    assert soundfile.info(folder / "en" / "a-1.flac").frames > 0


def test_a_finished_language_is_not_said_again_and_an_unfinished_one_is(tmp_path):
    folder = prepared(tmp_path, FakeTTS())
    again = FakeTTS()
    prepared(tmp_path, again)
    assert again.calls == []
    (folder / "en" / babble.CREDITS_FILE).unlink()
    prepared(tmp_path, again)
    assert len(again.calls) == 4
    assert len(json.loads((folder / "en" / babble.CREDITS_FILE).read_text())) == 4
