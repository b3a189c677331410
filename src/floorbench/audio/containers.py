"""Does a container hold as much audio as it promises? Checked where the decoder stays silent.

libsndfile reads a shortened WAV, Ogg or SPHERE file without a word and returns what is left. A
benchmark must not score part of a recording, so the sizes are compared here before anything is
decoded.
"""

from __future__ import annotations

import struct

from floorbench.audio.member import AudioFile
from floorbench.audio.sphere import MARK, sphere_header
from floorbench.core.words import counted
from floorbench.errors import DataError, Place

_UNKNOWN = (0xFFFFFFFF, 0x7FFFFFFF)
_OGG_TAIL = 66_000  # a page is at most 65,307 bytes


def check_complete(path: AudioFile) -> None:
    """Refuse a WAV, Ogg or SPHERE file that ends before its own structure says.

    Parameters
    ----------
    path : Path
        A file that exists. Other containers pass: FLAC is checked by its decoder, MP3 by the
        frame count after decoding (an MP3 file without a frame count, cut between two frames,
        cannot be told from a whole one).

    Raises
    ------
    DataError
        ``FB304`` when data is missing or the length is not stated, ``FB302`` for compressed SPHERE.
    """
    with path.open("rb") as handle:
        head = handle.read(12)
        if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
            _check_wav(path)
        elif head[:4] == b"OggS":
            _check_ogg(path)
        elif head.startswith(MARK):
            _check_sphere(path)


def _truncated(path: AudioFile, what: str, hint: str | None = None) -> DataError:
    return DataError("FB304", what, where=Place(str(path)), hint=hint)


def _check_wav(path: AudioFile) -> None:
    size = path.stat().st_size
    with path.open("rb") as handle:
        position, large = 12, None
        while position + 8 <= size:
            handle.seek(position)
            name, length = struct.unpack("<4sI", handle.read(8))
            if name == b"ds64" and position + 24 <= size:  # sizes that may pass 4 GiB
                large = struct.unpack("<QQ", handle.read(16))[1]
            if name == b"data":
                held = size - position - 8
                if length in _UNKNOWN and large is not None:
                    length = large
                if length in _UNKNOWN:
                    raise _truncated(
                        path,
                        "the WAV header leaves the length open, as programs that write to a "
                        "pipe do, so nobody can tell whether the file is whole",
                        "write the file again with its length, for example from a seekable output",
                    )
                if length > held:
                    raise _truncated(
                        path,
                        f"the WAV header promises {counted(length, 'byte')} "
                        f"of audio, {held} are there",
                    )
                return
            position += 8 + length + (length & 1)
    raise _truncated(path, "the WAV file ends before its audio data begin")


def _check_sphere(path: AudioFile) -> None:
    header = sphere_header(path)
    if header is not None and header.held < header.promised:
        raise _truncated(
            path,
            "the SPHERE header promises "
            f"{counted(header.promised, 'frame')}, {header.held} are there",
        )


def _check_ogg(path: AudioFile) -> None:
    size = path.stat().st_size
    with path.open("rb") as handle:
        handle.seek(max(0, size - _OGG_TAIL))
        tail = handle.read()
    start = tail.rfind(b"OggS")
    header = tail[start : start + 27]
    if start < 0 or len(header) < 27:
        raise _truncated(path, "the Ogg file ends inside a page header")
    segments = tail[start + 27 : start + 27 + header[26]]
    whole = start + 27 + header[26] + sum(segments)
    if len(segments) < header[26] or whole > len(tail):
        raise _truncated(path, "the Ogg file ends inside a page")
    if not header[5] & 0x04:
        raise _truncated(path, "the Ogg stream has no end mark, so its last pages are missing")
