from pathlib import Path

import pytest

from floorbench.errors import UsageError
from floorbench.systems.llm.openai_api import KEY, OPENAI
from floorbench.systems.llm.rows import embedded_model, ollama_model, openai_model, slug

SERVED = {"base_url": OPENAI, "key_env": KEY, "top": 0, "cache": None, "replay": False}


def test_what_is_named_is_what_is_opened(tmp_path: Path) -> None:
    assert embedded_model(None).info.name == "SmolLM2-135M-Instruct"
    assert embedded_model(str(tmp_path / "mine.gguf"), context=64).info.name == "mine"
    served = openai_model("m", timeout=1.0, attempts=2, **SERVED)
    assert (served.info.name, served.can.raw, served.can.top) == ("m", False, 0)
    tag = ollama_model("phi3:14b", host="http://127.0.0.1:1", context=9, timeout=1.0, attempts=1)
    assert tag.info.parameters["context"] == 9
    assert slug("phi3:14b") == "phi3-14b"


def test_a_replay_needs_its_folder() -> None:
    with pytest.raises(UsageError, match="FB513"):
        openai_model("m", timeout=1.0, attempts=2, **(SERVED | {"replay": True}))


def test_limits_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="FB513"):
        ollama_model("m", host="http://127.0.0.1:1", context=9, timeout=0.0, attempts=1)
