import pytest

from floorbench.events.tokens import is_speech


@pytest.mark.parametrize(
    "token", ["[silence]", "[noise]", "[laughter]", "[vocalized-noise]", "<b_aside>", "<e_aside>"]
)
def test_non_speech(token):
    assert not is_speech(token)


@pytest.mark.parametrize("token", ["[laughter-yeah]", "th[ey]-", "okay_1", "{alrighty}", "um-hum"])
def test_speech(token):
    assert is_speech(token)
