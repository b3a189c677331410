"""FB7xx: annotation formats."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB701": Code(
        "unknown annotation format",
        "Neither the file's name nor its first lines tell which annotation format it is.",
        "Name the format; `floorbench.formats.FORMATS` lists them all.",
    ),
    "FB702": Code(
        "not readable text",
        "The file is binary, holds NUL characters, or is not in a known character encoding.",
        "Save the file as UTF-8 text.",
    ),
    "FB703": Code(
        "malformed annotation file",
        "A header, a bracket or a required part is missing, or the file was cut off.",
        "Compare the named line with the format's documentation; the rest cannot be trusted.",
    ),
    "FB704": Code(
        "bad time in an annotation",
        "A time is not a finite decimal number, is out of range, or an end lies before its start.",
        "Correct the named time in the source file.",
    ),
    "FB705": Code(
        "annotation file too large",
        "The file, one of its lines or its nesting is larger than any annotation file should be.",
        "Check that this is an annotation file; split it if it really is this large.",
    ),
    "FB706": Code(
        "unsafe XML",
        "The file declares a document type or entities; annotation files need neither.",
        "Remove the DOCTYPE declaration.",
    ),
    "FB707": Code(
        "refused by strict reading",
        "The file can be read, but only by skipping or guessing something.",
        "Correct the named line, or read without strict to get it as a warning.",
    ),
    "FB708": Code(
        "conversion would lose something",
        "The target format cannot hold all of the annotation, and strict was asked for.",
        "Choose a richer target format, or convert without strict and read the list of losses.",
    ),
    "FB709": Code(
        "cannot open annotation file",
        "The file does not exist, is a folder, or may not be read or written.",
        "Check the path and its permissions.",
    ),
}
