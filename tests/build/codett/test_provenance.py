"""The card names whoever made a part; it claims no licence for what came from elsewhere."""

from floorbench.build.codett import provenance
from floorbench.build.codett.recipe import DEFAULTS
from floorbench.build.pipeline.stage import Item

SOUNDS = (
    {"burst": {"kind": "bell", "licence": "CC0"}},
    {"noise": {"names": ["hum"], "licences": ["MIT"]}},
    {"noise": {"names": ["hum", "tap"], "licences": ["CC0", "MIT"]}},
)


def item(n, **more):
    return Item(id=f"i{n}", fields={"family": f"call-{n:02}", **more})


def test_the_embedded_parts_have_their_licences():
    items = [item(n, sound=sound) for n, sound in enumerate(SOUNDS)]
    items.append(item(9, speech=[{"voice": "af_bella"}, {"voice": "am_puck"}]))
    about = provenance.of(items, DEFAULTS)
    assert about["texts"] == "embedded sentences (Apache-2.0); judged by rules"
    assert "Kokoro" in about["speech"]
    assert "Apache-2.0" in about["speech"]
    assert about["speech"].endswith("voices: af_bella, am_puck")
    assert about["recogniser"].startswith("whisper-base")
    assert about["bursts"] == "bell (CC0)"
    assert about["noise under speech"] == "2 recordings (CC0, MIT)"
    assert about["babble under speech"] == about["recordings"] == "none"


def test_models_of_the_user_are_named_and_give_no_licence():
    chosen = {
        **DEFAULTS,
        "writer": {"service": "openai", "model": "writer-1"},
        "judge": {"service": "gemini", "model": "judge-1"},
        "tts": {"provider": "server", "model": "voice-1"},
        "asr": {"provider": "qwen3-asr"},
    }
    about = provenance.of([], chosen)
    assert about["texts"].startswith("written by writer-1 through openai")
    assert about["texts"].endswith("judged by judge-1 through gemini")
    assert "voice-1 through server" in about["speech"]
    assert about["recogniser"] == "its default model through qwen3-asr"
    assert not any("Apache" in value or "Kokoro" in value for value in about.values())


def test_recordings_of_people_keep_the_licence_of_their_corpus():
    told = provenance.real([item(n, origin="real") for n in range(23)] + [item(99)])
    assert told.startswith("call-00, call-01")
    assert "and 3 more; the licence of these recordings is their corpus's" in told
    assert "call-99" not in told
