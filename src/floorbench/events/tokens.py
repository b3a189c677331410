"""Which transcript tokens are speech."""

from __future__ import annotations

NON_SPEECH = frozenset({"[silence]", "[noise]", "[laughter]", "[vocalized-noise]"})


def is_speech(token: str) -> bool:
    """Tell whether a token of a word-timed transcript is speech.

    Parameters
    ----------
    token : str
        ISIP-style token.

    Returns
    -------
    bool
        False for silence, noise, laughter, vocalised noise and ``<...>`` markers; true for
        everything else, laughed words (``[laughter-yeah]``) and partial words included.

    Examples
    --------
    >>> is_speech("[laughter]"), is_speech("[laughter-yeah]"), is_speech("th[ey]-")
    (False, True, True)
    >>> is_speech("<b_aside>")
    False
    """
    token = token.strip().lower()
    return token not in NON_SPEECH and not (token.startswith("<") and token.endswith(">"))
