import json
from typing import Any

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.datasets.codett_lines import (
    Dialogue,
    history_key,
    normal_language,
    read_line,
    unwrap,
)
from floorbench.errors import DataError, Place
from support import codett_tiny as tiny

COMPLETION = BY_LABEL["SystemIdle_Takeover_Completion"]
BACKCHANNEL = BY_LABEL["SystemSpeaking_Maintain_Backchannel"]
WHERE = Place("x.jsonl", 7)


def read(item: dict[str, Any], **options: Any) -> Dialogue:
    return read_line(json.dumps(item, ensure_ascii=False).encode(), WHERE, **options)


def simple(**fields: Any) -> dict[str, Any]:
    return tiny.line(COMPLETION, text="hi", audio="a.wav", **fields)


@pytest.mark.parametrize("variant", range(3))
def test_the_state_wrapper_is_stripped(variant: int) -> None:
    assert unwrap(tiny.wrap("SystemSpeaking", "wait", variant=variant)) == (
        "SystemSpeaking",
        "wait",
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("系统当前状态: <|SystemIdle|> 输入内容：", ""),
        ("系统当前状态: <|SystemIdle|> 输入内容：   ", ""),
        ("系统当前状态：<|SystemIdle|>输入：明天10:30见", "明天10:30见"),
        ("系统当前状态: <|SystemIdle|> 输入内容：他说：好", "他说：好"),
        ("系统当前状态: <|System_Idle|> Input: at 10:30, Input: x", "at 10:30, Input: x"),
        ("<|SystemIdle|> 明天见", "明天见"),
        ("Current System State: <|SystemIdle|>, input: line\nbreak", "line\nbreak"),
        ("<|SystemIdle|> 输入内容：what is <|SystemSpeaking|>", "what is <|SystemSpeaking|>"),
    ],
)  # fmt: skip
def test_text_survives_unwrapping(content: str, text: str) -> None:
    assert unwrap(content) == ("SystemIdle", text)


@pytest.mark.parametrize(
    "content",
    ["明天10:30见", "What does SystemIdle mean?", "he wrote <|SystemIdle|> there", "输入法：好用"],
)
def test_text_without_a_wrapper_stays_whole_and_states_nothing(content: str) -> None:
    assert unwrap(content) == (None, content)


def test_a_text_that_mentions_a_state_does_not_change_it() -> None:
    item = tiny.line(BACKCHANNEL, text="is SystemIdle or <|SystemIdle|> better", audio="a.wav")
    dialogue = read(item)
    assert dialogue.intent is BACKCHANNEL
    assert dialogue.target.text == "is SystemIdle or <|SystemIdle|> better"


def test_the_gold_is_no_turn() -> None:
    dialogue = read(simple(history=tiny.rounds(2, name="n", folder="f")))
    texts = [t.text for t in (*dialogue.history, dialogue.target)]
    assert texts == ["n question 0", "n answer 0", "n question 1", "n answer 1", "hi"]
    assert not any("<|" in text for text in texts)


def test_a_state_tag_first_in_the_gold_is_read() -> None:
    assert read(simple(state_in_gold=True)).intent is COMPLETION


def test_a_state_in_the_gold_alone_is_enough_and_so_is_the_file_name() -> None:
    item = simple(state_in_gold=True)
    item["messages"][-2]["content"] = "hi"
    assert read(item).intent is COMPLETION
    item["messages"][-1]["content"] = COMPLETION.tags
    assert read(item, hinted_state="SystemIdle").intent is COMPLETION
    with pytest.raises(DataError, match=r"FB214 x\.jsonl:7"):
        read(item)


def test_contradictory_states_are_an_error() -> None:
    item = simple()
    item["messages"][-1]["content"] = "<|SystemSpeaking|><|Maintain|><|Backchannel|>"
    with pytest.raises(DataError, match="FB214"):
        read(item)


@pytest.mark.parametrize(
    ("gold", "hint"),
    [
        ("<|Takeovr|><|Completion|>", "did you mean 'Takeover'"),
        ("<|Takeover|><|Completions|>", "did you mean 'Completion'"),
        ("<|Maintain|><|Backchannel|>", "SystemIdle allows Takeover and Dismiss"),
        ("<|Takeover|>", ""),
        ("Takeover, Completion", ""),
        ("<|Takeover|><|Completion|><|Completion|>", ""),
    ],
)
def test_unknown_gold_labels_name_line_and_way_out(gold: str, hint: str) -> None:
    item = simple()
    item["messages"][-1]["content"] = gold
    with pytest.raises(DataError, match=r"FB213 x\.jsonl:7") as caught:
        read(item)
    assert hint in str(caught.value)


def test_gold_spellings_of_other_files_are_read() -> None:
    item = tiny.line(
        BY_LABEL["SystemSpeaking_Maintain_SideTalk"], text="x", audio=None, state_in_gold=True
    )
    item["messages"][-1]["content"] = "<|System_Speaking|><|maintain|><|Side-talk|>"
    assert read(item).intent.label == "SystemSpeaking_Maintain_SideTalk"


def test_wav_path_and_missing_audio() -> None:
    history = tiny.rounds(1, name="n", folder="f", audio=False)
    item = simple(history=history)
    del item["messages"][-2]["audio"]
    item["messages"][-2]["wav_path"] = "b.wav"
    dialogue = read(item)
    assert dialogue.target.audio == "b.wav"
    assert [t.audio for t in dialogue.history] == [None, None]
    assert dialogue.history[0].role is Role.USER


def test_label_like_assistant_turns_are_not_history() -> None:
    history = [*tiny.rounds(1, name="n", folder="f"), tiny.assistant("<|Takeover|><|Completion|>")]
    assert [t.text for t in read(simple(history=history)).history] == ["n question 0", "n answer 0"]


@pytest.mark.parametrize(
    "data",
    [
        b'{"messages": [', b"[]", b'{"messages": []}', b"\xff\xfe", b'{"messages": [1, 2]}',
        b'{"messages": [{"role": "user"}, {"role": "assistant", "content": "x"}]}',
        b'{"messages": [{"role": "bot", "content": "x"}, {"role": "assistant", "content": "x"}]}',
        b'{"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "x"}]}',
        b'{"messages": [{"role": "system", "content": ""}, {"role": "assistant", "content": ""}]}',
    ],
)  # fmt: skip
def test_broken_lines_are_errors_with_file_and_line(data: bytes) -> None:
    with pytest.raises(DataError, match=r"FB2\d\d x\.jsonl:7"):
        read_line(data, WHERE)


def test_languages_are_folded() -> None:
    assert [normal_language(n) for n in ("EN", "zh-CN", "Chinese", "en_US")] == [
        "en", "zh", "zh", "en",
    ]  # fmt: skip


def test_history_key_ignores_spacing_case_and_width_but_not_words() -> None:
    one = read(simple(history=[tiny.user("SystemIdle", "Good  Morning", None)]))
    same = read(simple(history=[tiny.user("SystemIdle", "good ｍorning", None, variant=2)]))
    other = read(simple(history=[tiny.user("SystemIdle", "good evening", None)]))
    assert history_key(one.history) == history_key(same.history) != history_key(other.history)
    assert history_key(()) is None
