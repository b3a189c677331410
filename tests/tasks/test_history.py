import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Role
from floorbench.tasks.history import trailing, view_for, viewed

SOUND = ArrayAudio([0.0, 0.1], rate=16_000)


def past(pattern: str) -> list[Turn]:
    """Build turns from letters: U user with audio, N user without, A assistant."""
    return [
        Turn(
            role=Role.SYSTEM if letter == "A" else Role.USER,
            text=f"{letter}{i}",
            audio=SOUND if letter == "U" else None,
        )
        for i, letter in enumerate(pattern)
    ]


@pytest.mark.parametrize(
    ("pattern", "length", "kept", "users", "short"),
    [
        ("UAUAUAUAUA", 0, "", 0, False),
        ("UAUAUAUAUA", 1, "U8 A9", 1, False),
        ("UAUAUAUAUA", 3, "U4 A5 U6 A7 U8 A9", 3, False),
        ("UAUAUAUAUA", 5, "U0 A1 U2 A3 U4 A5 U6 A7 U8 A9", 5, False),
        ("UAUA", 3, "U0 A1 U2 A3", 2, True),
        ("AUA", 3, "A0 U1 A2", 1, True),
        ("AUA", 1, "U1 A2", 1, False),
        ("UAUAA", 1, "U2 A3 A4", 1, False),
        ("UUU", 1, "U2", 1, False),
        ("", 5, "", 0, True),
        ("A", 1, "A0", 0, True),  # fewer than asked for: all of the past, with no user turn too
        ("A", 0, "", 0, False),
    ],
)
def test_history_counts_trailing_user_turns(
    pattern: str, length: int, kept: str, users: int, short: bool
) -> None:
    history = trailing(past(pattern), length)
    assert " ".join(str(t.text) for t in history.turns) == kept
    assert (history.users, history.short) == (users, short)


def test_user_turns_without_audio_count_and_are_counted() -> None:
    history = trailing(past("UANANA"), 2)
    assert [t.text for t in history.turns] == ["N2", "A3", "N4", "A5"]
    assert history.absent == 2
    assert trailing(past("UANA"), 5).absent == 1


def observation() -> Observation:
    return Observation(
        language="en",
        state="SystemIdle",
        turns=(Turn(role=Role.USER, text="u", audio=SOUND), Turn(role=Role.SYSTEM, text="a")),
        channels={Role.USER: SOUND},
        text="now",
    )


def test_the_audio_view_has_user_audio_and_system_text_only() -> None:
    shown = viewed(observation(), "audio")
    assert [(t.text, t.audio is not None) for t in shown.turns] == [(None, True), ("a", False)]
    assert shown.text is None
    assert set(shown.channels) == {Role.USER}


def test_the_text_view_has_no_audio() -> None:
    shown = viewed(observation(), "text")
    assert [(t.text, t.audio) for t in shown.turns] == [("u", None), ("a", None)]
    assert shown.text == "now"
    assert shown.channels == {}


def test_both_is_everything() -> None:
    assert viewed(observation(), "both") == observation()


def test_a_system_that_hears_gets_audio() -> None:
    assert [view_for(m) for m in (("audio",), ("text",), ("audio", "text"))] == [
        "audio", "text", "audio",
    ]  # fmt: skip
