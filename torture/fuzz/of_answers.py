"""What models and programs say: answers in words, answers of services, messages on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.build.echo_recipe.model_rewriter import RewriteFault, parsed
from floorbench.build.pipeline.stage import Rejected
from floorbench.build.text.answers import object_of
from floorbench.core.prediction import Decision, Prediction, Served, is_name
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import ParserMode
from floorbench.datasets.codett_labels import ACTIONS, BY_PAIR, STATES
from floorbench.run.deciding import checked
from floorbench.systems import prompted, stream_wire, worker_pipe, worker_wire
from floorbench.systems.llm import gemini, http, ollama, openai_api, retrying
from floorbench.systems.llm.answers import parse_answer
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.recorded import Reply
from floorbench.systems.llm.retrying import Refused
from floorbench.tasks.parsing import parse_answer as parse_codett
from torture.fuzz.target import Target, finite, law


def text(parse: Callable[[str], object]) -> Callable[[bytes, Path], None]:
    """Return a reader of bytes for a parser of text: any text, half surrogate pairs included."""

    def read(data: bytes, folder: Path) -> None:
        parse(data.decode("utf-8", "surrogateescape"))

    return read


def message(parse: Callable[[Any], object]) -> Callable[[bytes, Path], None]:
    """Return a reader of bytes for a parser of JSON values that came over a pipe."""

    def read(data: bytes, folder: Path) -> None:
        parse(codec.parse(data))

    return read


def seeds(*values: Any) -> Callable[[], list[bytes]]:
    """Return seeds from texts or JSON values."""
    made = [v.encode() if isinstance(v, str) else json.dumps(v).encode() for v in values]
    return lambda: made


# ---- answers in words ---------------------------------------------------------------------------


def _codett(said: str) -> None:
    for state in STATES:
        for stage in ("action", "intent"):
            strict = parse_codett(said, state=state, stage=stage, mode=ParserMode.STRICT)
            lenient = parse_codett(said, state=state, stage=stage, mode=ParserMode.LENIENT)
            for answer in (strict, lenient):
                law((answer.action is None) == (answer.problem is not None), "neither or both")
                law(answer.action is None or answer.action in ACTIONS, "no action of the task")
                if answer.intent is not None:
                    law(BY_PAIR.get((state, answer.action, answer.intent.scenario)) == answer.intent,
                        "an intent of another state or action")  # fmt: skip
            law(not strict.relaxed, "strict reading says that it helped")


def _json_answer(said: str) -> None:
    answer = parse_answer(said)
    law((answer.label is None) == (answer.problem is not None), "neither or both")
    law(answer.label in (None, "yes", "no"), f"label {answer.label}")
    law(answer.confidence is None or 0 <= answer.confidence <= 1, f"{answer.confidence}")
    if answer.label is not None:
        law("{" in said and "decision" in said, "a label out of nothing")


def _written(said: str) -> None:
    found = parsed(said)
    for part in (*found.history, found.before, found.insertion, found.after):
        law(isinstance(part, str), "a part is no text")
    law("\0" not in found.before, "a mark of our own is left in the text")


def _object(said: str) -> None:
    found = object_of(said)
    law(isinstance(found, dict | Rejected), f"{type(found)}")
    if isinstance(found, Rejected):
        law(found.reason, "a rejection without a reason")


def _chosen(said: str) -> None:
    found = prompted._chosen(said)
    law(isinstance(found, str), f"{type(found)}")


# ---- services -----------------------------------------------------------------------------------

_CHAT = {
    "choices": [{"message": {"content": "1", "refusal": None}, "finish_reason": "stop",
                 "logprobs": {"content": [{"top_logprobs": [{"token": "1", "logprob": -0.1},
                                                            {"token": "0", "logprob": -2.5}]}]}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1,
              "prompt_tokens_details": {"cached_tokens": 3}},
    "model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_44709d6fcb",
}  # fmt: skip
_TEXT = {
    "choices": [{"text": "yes", "finish_reason": "length",
                 "logprobs": {"top_logprobs": [{"yes": -0.1, "no": -2.0}]}}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    "model": "m-1", "system_fingerprint": None,
}  # fmt: skip


def _completion(done: Any) -> None:
    law(isinstance(done.text, str), "the text is no text")
    finite(done)
    for number in (done.usage.prompt, done.usage.evaluated, done.usage.generated):
        law(isinstance(number, int) and number >= 0, f"{number} tokens")
    if done.first is not None:
        rows = [t.logprob for t in done.first]
        law(rows == sorted(rows, reverse=True), "candidates out of order")


def _served(by: Served) -> None:
    for name in (by.snapshot, by.build):
        law(
            name is None or (is_name(name) and name.isprintable() and len(name) <= 120), f"{name!r}"
        )
    line = Prediction(sample_id="a", decision=Decision(served=by))
    law(codec.decode(codec.encode(line), Prediction) == line, "does not survive the journal")


def _openai(answer: Any) -> None:
    _served(openai_api.served_by(Reply(answer, None)))
    _completion(openai_api.read_answer(answer, chat=True, wanted=True))


def _openai_text(answer: Any) -> None:
    _served(openai_api.served_by(Reply(answer, None)))
    _completion(openai_api.read_answer(answer, chat=False, wanted=True))


def _gemini(answer: Any) -> None:
    _served(gemini._served(Reply(answer, None), secret=""))
    _completion(gemini._completion(answer))


def _gemini_wait(details: Any) -> None:
    wait = retrying.seconds_of(gemini._retry_delay(details))
    law(wait is None or (wait >= 0 and wait == wait and wait != float("inf")), f"wait {wait}")


def _ollama(answer: Any) -> None:
    _served(ollama._served(answer, "f974"))
    _completion(ollama._completion(answer, chat=True, wanted=True))


def _service_body(data: bytes, folder: Path) -> None:
    found = http.parse(data)
    law(found is not None or data.strip() == b"null", "nothing out of something")
    law(len(http.detail_of(data)) <= 160, "a long line")


def _detail(data: bytes, folder: Path) -> None:
    line = http.detail_of(data)
    law(isinstance(line, str) and len(line) <= 160 and "\n" not in line, f"{line!r}")


def _retry(said: str) -> None:
    wait = retrying.seconds_of(said)
    law(wait is None or (wait >= 0 and wait == wait and wait != float("inf")), f"wait {wait}")
    exact = openai_api.retry_after({"retry-after-ms": said, "Retry-After": "3"})
    wait = retrying.seconds_of(exact)
    law(wait is None or (wait >= 0 and wait == wait and wait != float("inf")), f"wait {wait}")


# ---- the wire -----------------------------------------------------------------------------------

_HELLO = {
    "type": "hello", "protocol": worker_wire.PROTOCOL, "kind": "batch", "name": "mine",
    "version": "1", "labels": ["complete", "incomplete"], "batch": 4, "heartbeat": 5.0,
}  # fmt: skip
_ANSWERS = {
    "type": "answers", "id": 1,
    "answers": [{"label": "complete", "scores": {"complete": 0.9}, "commit": 1.25,
                 "served": {"snapshot": "m-1", "build": "b", "at": "2026-01-31T23:59:59Z"}},
                {"outcome": "abstained", "reason": "unsure",
                 "events": [{"kind": "yield", "time": 1.0, "commit": 1.1}]}],
}  # fmt: skip
_STREAM_HELLO = {
    "type": "hello", "protocol": stream_wire.PROTOCOL, "name": "mine", "version": "1",
    "step": 0.1, "rate": 16000, "labels": ["yield", "keep"],
}  # fmt: skip
_REPLY = {
    "type": "events", "stream": "1", "events": [{"label": "yield", "time": 0.5, "score": 0.7}],
}  # fmt: skip


def _line(data: bytes, folder: Path) -> None:
    law(isinstance(worker_pipe.parse(data), dict), "no message")


def _hello(found: Any) -> None:
    hello = worker_wire.read_hello(found, kind="batch")
    finite(hello)
    spec = worker_wire.spec_of(hello, declared=None)
    law(codec.decode(codec.encode(spec), SystemSpec) == spec, "the spec does not survive JSON")


def _answers(found: Any) -> None:
    for decision in worker_wire.read_answers(found, asked=1, items=2):
        finite(decision)
        law(isinstance(decision, Decision), "no decision")
        checked(decision)
        line = Prediction(sample_id="a", decision=decision)
        law(codec.decode(codec.encode(line), Prediction) == line, "does not survive the journal")


def _stream_hello(data: bytes, folder: Path) -> None:
    hello = stream_wire.read_text(data.decode("utf-8", "replace"), stream_wire.Hello)
    finite(hello)
    if stream_wire.unfit(hello) is None:
        law(hello.step > 0 and hello.rate > 0 and hello.tail >= 0, "an impossible stream")


def _reply(data: bytes, folder: Path) -> None:
    reply = stream_wire.read_text(data.decode("utf-8", "replace"), stream_wire.Reply)
    finite(stream_wire.events(reply))


TARGETS = [
    Target(
        name="answer-codett",
        seeds=seeds("<|SystemIdle|><|SystemIdle_Dismiss|><|Exclusion|>", "<|Dismiss|><|Exclusion|>",
                    "<|SystemSpeaking|> <|Maintain|> <|Backchannel|>", "Maintain, Side Talk"),
        read=text(_codett),
        covers=("floorbench.tasks.parsing:parse_answer",),
        tokens=tuple(f"<|{n}|>".encode() for n in (*ACTIONS, *STATES)),
    ),
    Target(
        name="answer-json",
        seeds=seeds('{"decision": 1, "confidence": 0.8, "justification": "complete"} END',
                    'Sure. {"decision": "no", "confidence": "high"}'),
        read=text(_json_answer),
        covers=("floorbench.systems.llm.answers:parse_answer", "floorbench.systems.llm.answers:_read"),
        tokens=(b'"decision"', b'"confidence"', b"END", b"yes", b"0"),
    ),
    Target(
        name="answer-rewriter",
        seeds=seeds({"history": ["Hi."], "before": "I go", "insertion": "No!",
                     "after": ", we stay"}, 'Here: {"history": [], "before": "a", '
                    '"insertion": "b", "after": "c"}'),
        read=text(_written),
        covers=("floorbench.build.echo_recipe.model_rewriter:parsed",),
        refusals=(RewriteFault,),
        tokens=(b'"history"', b'"before"', b'"after"', b'"insertion"'),
    ),
    Target(
        name="answer-dialogue",
        seeds=seeds({"history": [{"user": "hi", "assistant": "hello"}], "target": "well"},
                    'Of course: {"a": [1, {"b": null}]} and so on'),
        read=text(_object),
        covers=("floorbench.build.text.answers:object_of",),
    ),
    Target(
        name="service-openai-chat",
        seeds=seeds(_CHAT),
        read=lambda data, folder: _openai(http.parse(data)),
        covers=("floorbench.systems.llm.openai_api:read_answer",
                "floorbench.systems.llm.openai_api:served_by",
                "floorbench.systems.llm.snapshots:name_in"),
        refusals=(ModelFault, Refused),
        tokens=(b'"model"', b'"system_fingerprint"', b'"choices"', b'"message"', b'"tool_calls"', b'"refusal"', b'"usage"', b'"logprobs"'),
    ),
    Target(
        name="service-openai-text",
        seeds=seeds(_TEXT),
        read=lambda data, folder: _openai_text(http.parse(data)),
        covers=("floorbench.systems.llm.openai_api:read_answer",),
        refusals=(ModelFault, Refused),
        tokens=(b'"choices"', b'"text"', b'"usage"', b'"top_logprobs"'),
    ),
    Target(
        name="service-ollama",
        seeds=seeds({"message": {"content": "1"}, "done_reason": "stop", "prompt_eval_count": 5,
                     "eval_count": 1, "model": "mistral:7b",
                     "logprobs": [{"top_logprobs": [{"token": "1", "logprob": -0.1}]}]}),
        read=lambda data, folder: _ollama(http.parse(data)),
        covers=("floorbench.systems.llm.ollama:_completion",
                "floorbench.systems.llm.ollama:_served",
                "floorbench.systems.llm.ollama:_candidates"),
        refusals=(ModelFault, Refused),
    ),
    Target(
        name="service-gemini",
        seeds=seeds(gemini._put_together(
            [{"candidates": [{"content": {"parts": [{"text": "1"}]}, "finish_reason": "STOP"}],
              "usage_metadata": {"prompt_token_count": 5, "candidates_token_count": 1},
              "model_version": "gemini-x-001"}])),
        read=lambda data, folder: _gemini(http.parse(data)),
        covers=("floorbench.systems.llm.gemini:_completion",
                "floorbench.systems.llm.gemini:_served"),
        refusals=(ModelFault, Refused),
        tokens=(b'"text"', b'"finish"', b'"blocked"', b'"usage"', b'"SAFETY"'),
    ),
    Target(
        name="service-gemini-wait",
        seeds=seeds({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "17s"}]}}),
        read=message(_gemini_wait),
        covers=("floorbench.systems.llm.gemini:_retry_delay",),
    ),
    Target(
        name="answer-chosen",
        seeds=seeds({"answer": "yes"}, "yes"),
        read=text(_chosen),
        covers=("floorbench.systems.prompted:_chosen",),
    ),
    Target(
        name="service-body",
        seeds=seeds({"error": {"message": "no such model"}}, {"answer": 1}),
        read=_service_body,
        covers=("floorbench.systems.llm.http:parse",),
        refusals=(Refused,),
    ),
    Target(
        name="service-detail",
        seeds=seeds({"error": {"message": "no such model"}}, {"error": "busy"}, "<html>502</html>"),
        read=_detail,
        covers=("floorbench.systems.llm.http:detail_of",),
    ),
    Target(
        name="retry-after",
        seeds=seeds("3", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "Fri, 31 Dec 1999 23:59:59 +0100"),
        read=text(_retry),
        covers=("floorbench.systems.llm.retrying:seconds_of",
                "floorbench.systems.llm.openai_api:retry_after"),
        tokens=(b"GMT", b"+9999", b"-2400", b"Feb", b"31", b"99999", b"0001"),
    ),
    Target(
        name="wire-line",
        seeds=seeds(_HELLO, _ANSWERS),
        read=_line,
        covers=("floorbench.systems.worker_pipe:parse", "floorbench.codec:parse"),
    ),
    Target(
        name="wire-hello",
        seeds=seeds(_HELLO, {**_HELLO, "rate": 16000, "front_end": {"rate": 16000, "gate": "vad"},
                             "parameters": {"a": [1, 2]}, "weights": {"w": "0" * 64}}),
        read=message(_hello),
        covers=("floorbench.systems.worker_wire:read_hello",
                "floorbench.systems.worker_wire:spec_of", "floorbench.systems.worker_wire:read"),
    ),
    Target(
        name="wire-answers",
        seeds=seeds(_ANSWERS),
        read=message(_answers),
        covers=("floorbench.systems.worker_wire:read_answers", "floorbench.run.deciding:checked"),
    ),
    Target(
        name="stream-hello",
        seeds=seeds(_STREAM_HELLO),
        read=_stream_hello,
        covers=("floorbench.systems.stream_wire:read_text",),
    ),
    Target(
        name="stream-reply",
        seeds=seeds(_REPLY, {"type": "error", "stream": "1", "message": "no"}),
        read=_reply,
        covers=("floorbench.systems.stream_wire:read_text",
                "floorbench.systems.stream_wire:events"),
    ),
]  # fmt: skip
