"""NIST SPHERE headers: what the decoder cannot read, and what it reads without a word.

The decoder ignores ``sample_count``, so a shortened file would pass for a whole one, and it does
not say why it refuses a compressed file. Both are settled here from the header, which is text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from floorbench.audio.member import AudioFile
from floorbench.errors import DataError, Place

MARK = b"NIST_1A"
_FIELD = re.compile(r"(\w+)\s+-(?:i|r|s\d+)\s+(.*)")
_LARGEST = 1 << 16
_DIGITS = 18


class Sphere(NamedTuple):
    """Frames per channel that a SPHERE header promises, and that its file holds."""

    promised: int
    held: int


def sphere_header(path: AudioFile) -> Sphere | None:
    """Read the header of a SPHERE file; ``None`` for a file of another kind.

    Raises
    ------
    DataError
        ``FB302`` for compressed samples or a broken header, ``FB304`` when the length is open.
    """
    where = Place(str(path))
    with path.open("rb") as handle:
        if handle.read(len(MARK)) != MARK:
            return None
        head = handle.read(_LARGEST).decode("latin-1")
    lines = [line.strip() for line in head.partition("end_head")[0].splitlines()]
    fields = {m[1]: m[2].strip() for m in map(_FIELD.fullmatch, lines) if m}
    coding = fields.get("sample_coding", "pcm")
    name, _, packed = coding.partition(",")
    if packed:
        raise DataError(
            "FB302",
            f"SPHERE audio compressed as '{coding}'",
            where=where,
            hint=f"unpack it first: sph2pipe -f wav -p {path.name} {path.stem}.wav",
        )
    try:
        size = int(lines[1])
        width = 1 if name.lower() in ("ulaw", "mu-law", "alaw") else int(fields["sample_n_bytes"])
        block = int(fields["channel_count"]) * width
        if block < 1:
            raise ValueError("no channels")
    except (IndexError, KeyError, ValueError) as error:
        raise DataError("FB302", f"a broken SPHERE header ({error})", where=where) from None
    count = fields.get("sample_count", "")
    if not count.isdecimal() or len(count) > _DIGITS:
        raise DataError(
            "FB304",
            "the SPHERE header has no sample_count, so nobody can tell whether the file is whole",
            where=where,
            hint="write the file again with its length, for example as WAV",
        )
    return Sphere(promised=int(count), held=max(0, path.stat().st_size - size) // block)
