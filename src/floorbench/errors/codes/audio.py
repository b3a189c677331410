"""FB3xx: audio."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB301": Code(
        "audio file missing",
        "An audio file that the data names does not exist or cannot be opened.",
        "Check the path, the dataset root and the permissions.",
    ),
    "FB302": Code(
        "not readable audio",
        "The file is not audio in a known container, or its header or its data is damaged.",
        "Open it in an audio editor and save it again as WAV or FLAC.",
    ),
    "FB303": Code(
        "empty audio",
        "The audio holds no sample.",
        "Remove the item or replace the file; silence is allowed, nothing at all is not.",
    ),
    "FB304": Code(
        "truncated audio",
        "The file holds less audio than its header promises, or does not say how much it holds.",
        "Copy or download the file again; floorbench never scores part of a recording.",
    ),
    "FB305": Code(
        "impossible sample values",
        "A sample is NaN or infinite, or far outside [-1, 1].",
        "Scale float audio to [-1, 1] and write it again.",
    ),
    "FB306": Code(
        "channel not chosen",
        "A file with several channels is read without saying which, or the channel does not exist.",
        "Choose one: `--reader-set channel=0` (counted from 0, or `mix`) for labelled clips; other "
        "readers declare a channel per role.",
    ),
    "FB307": Code(
        "read outside the audio",
        "A read starts before 0, ends after the recording, or passes the cutoff.",
        "Ask for a span inside the visible audio; nothing after the cutoff may be used.",
    ),
    "FB308": Code(
        "path leaves the dataset",
        "A path in the data is absolute, or leads out of the dataset root by `..` or a link.",
        "Use paths relative to the dataset root, and files inside it.",
    ),
    "FB309": Code(
        "bad audio parameter",
        "A sampling rate, cutoff or voice-activity parameter is outside its range.",
        "The message names the parameter and its range.",
    ),
}
