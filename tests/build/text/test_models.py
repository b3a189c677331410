"""Models by settings: nothing is loaded, keys stay in the environment."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, chat, serving
from floorbench.build.text.models import chat_model
from floorbench.errors import UsageError
from floorbench.systems.llm.chat import ChatTurn

TURN = (ChatTurn(role="user", parts=("Write.",)),)
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def test_openai_is_asked_for_the_schema():
    with serving([Reply(chat('{"ok": true}'))]) as server:
        made = chat_model(service="openai", model="m", base_url=server.url + "/v1", key_env="")
        said = made.ask(TURN, system="S", max_tokens=9, schema=SCHEMA)
    assert said.text == '{"ok": true}'
    form = server.calls[0].body["response_format"]
    assert (form["type"], form["json_schema"]["schema"]) == ("json_schema", SCHEMA)


def test_gemini_is_asked_for_the_schema():
    answer = {
        "candidates": [{"content": {"parts": [{"text": '{"ok": true}'}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
    }
    with serving([Reply(answer)]) as server:
        made = chat_model(service="gemini", model="g", base_url=server.url, key_env="NO_SUCH_KEY")
        said = made.ask(TURN, system="S", max_tokens=9, schema=SCHEMA)
    assert (said.text, said.usage.prompt) == ('{"ok": true}', 3)
    config = server.calls[0].body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == SCHEMA


def test_the_embedded_model_is_named_without_being_loaded():
    made = chat_model(service="embedded", model="/nowhere/m.gguf")
    assert made.deterministic
    assert "base_url" not in json.dumps(dict(made.info.parameters))


def test_an_unknown_service_is_refused():
    with pytest.raises(UsageError, match="FB861 no service 'fax'"):
        chat_model(service="fax")
