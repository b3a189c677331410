"""How far a transcript is from the text: normalised words, characters, toneless syllables.

Both sides are normalised alike. Mandarin is gated on syllables without tones, because about half
of a small recogniser's character errors are homophones.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

from floorbench.errors import DataError, missing_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Error rates, at least 0 and above 1 where more was heard than said.

    Attributes
    ----------
    wer : float or None
        Words; ``None`` for Mandarin, which does not write them.
    cer : float
        Characters, spaces aside.
    syllables : float or None
        Toneless syllables; ``None`` for English.
    """

    wer: float | None
    cer: float
    syllables: float | None

    @property
    def gated(self) -> float:
        """The figure that the gate looks at."""
        figures = (self.wer, self.syllables, self.cer)
        return next(f for f in figures if f is not None)


@cache
def _english() -> Any:
    try:
        from whisper_normalizer.english import EnglishTextNormalizer
    except ImportError:
        raise missing_extra("whisper-normalizer", "build") from None
    return EnglishTextNormalizer()


def _mandarin(text: str) -> str:
    try:
        import cn2an
        import zhconv
    except ImportError as error:
        raise missing_extra(str(error.name), "build") from None
    plain = zhconv.convert(unicodedata.normalize("NFKC", text), "zh-cn")
    if any(c.isdigit() for c in plain):
        plain = cn2an.transform(plain, "an2cn")
    kept = (c for c in plain.casefold() if unicodedata.category(c)[0] not in "PSZC")
    return "".join(kept).replace("两", "二")


def normalised(text: str, language: str) -> str:
    """Return a text as it is compared: numerals, script, spelling and case alike, no punctuation.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without the normalisers of the extra ``build``.
    DataError
        ``FB876`` for a language without one.
    """
    if language == "en":
        return str(_english()(text)).strip()
    if language == "zh":
        return _mandarin(text)
    raise DataError("FB876", f"there is no way to compare texts in {language!r}")


def syllables(text: str) -> list[str]:
    """Return the toneless pinyin of a normalised Mandarin text; other letters stay as they are."""
    try:
        from pypinyin import Style, lazy_pinyin
    except ImportError:
        raise missing_extra("pypinyin", "build") from None
    return [str(s) for s in lazy_pinyin(text, style=Style.NORMAL)]


def errors_of(text: str, heard: str, language: str) -> Errors:
    """Return the error rates of a transcript.

    Raises
    ------
    DataError
        ``FB876`` when nothing of the text is left to compare.
    """
    try:
        import jiwer
    except ImportError:
        raise missing_extra("jiwer", "build") from None
    said, got = normalised(text, language), normalised(heard, language)
    if not said:
        raise DataError("FB876", f"nothing of {text!r} is left to compare")
    cer = float(jiwer.cer(said.replace(" ", ""), got.replace(" ", "")))
    if language == "en":
        return Errors(wer=float(jiwer.wer(said, got)), cer=cer, syllables=None)
    sounds = float(jiwer.wer(" ".join(syllables(said)), " ".join(syllables(got))))
    return Errors(wer=None, cer=cer, syllables=sounds)
