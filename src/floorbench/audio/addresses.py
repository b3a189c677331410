"""Addresses of files: local paths and URLs; how they are joined, and shown without secrets.

An address with ``://`` or ``::`` is a URL (``http://host/set``, ``s3://bucket/set``,
``zip://::/data/set.zip``), any other a local path.
"""

from __future__ import annotations

import re
from pathlib import Path

HIDDEN = "<redacted>"

_USER = re.compile(r"(?<!\w)(\w++://)[^/\s@'\"]*+@")
_WORD = re.compile(r"[^\s'\"]+")


def is_url(address: str) -> bool:
    """Tell whether an address is a URL, not a local path.

    Examples
    --------
    >>> is_url("s3://bucket/set"), is_url("simplecache::s3://bucket/set"), is_url("/data/set")
    (True, True, False)
    """
    return "://" in address or "::" in address


def shown(text: str) -> str:
    """Return an address, or a message with addresses in it, without passwords and signatures.

    User, password and everything after ``?`` go: signed addresses carry their key there.

    Examples
    --------
    >>> shown("https://me:secret@host/set?X-Signature=abc")
    'https://<redacted>@host/set?<redacted>'
    """
    return _WORD.sub(_without_query, _USER.sub(rf"\1{HIDDEN}@", text))


def _without_query(word: re.Match[str]) -> str:
    address = word[0]
    scheme = address.find("://")
    query = address.find("?", scheme) + 1 if scheme >= 0 else 0
    return address[:query] + HIDDEN if 0 < query < len(address) else address


def join(folder: str, name: str) -> str:
    """Return the address of a file in a folder.

    Parameters
    ----------
    folder : str
        In a chain (``zip://inner::s3://bucket/a.zip``) the part that holds the files is the first
        one with ``://``; a query is kept behind the name.
    name : str
        File name without slashes.

    Examples
    --------
    >>> join("https://host/set?sig=1", "a.tar")
    'https://host/set/a.tar?sig=1'
    >>> join("zip://::/data/set.zip", "a.tar")
    'zip://a.tar::/data/set.zip'
    """
    if not is_url(folder):
        return str(Path(folder) / name)
    parts = folder.split("::")
    at = next((i for i, part in enumerate(parts) if "://" in part), 0)
    base, mark, query = parts[at].partition("?")
    if not base.endswith("://"):
        base = base.rstrip("/") + "/"
    parts[at] = base + name + mark + query
    return "::".join(parts)
