"""Byte ranges from a web server, with the standard library alone."""

from __future__ import annotations

import base64
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request

from floorbench.core.words import counted

TIMEOUT = 60.0
"""Seconds of silence after which a server counts as gone."""
SLOWEST = 1000.0
"""Bytes per second that a server sends at least, over a whole answer."""

_PAST_THE_END = 416
_PARTIAL = 206


class HttpStore:
    """One file on a web server.

    Parameters
    ----------
    address : str
        ``http://`` or ``https://``; a user and password in it are sent to that host only.
    """

    def __init__(self, address: str) -> None:
        split = urllib.parse.urlsplit(address)
        host = split.netloc.rpartition("@")[2]
        self._url = urllib.parse.urlunsplit(split._replace(netloc=host))
        self._login: str | None = None
        if split.username is not None:
            named = [urllib.parse.unquote(part or "") for part in (split.username, split.password)]
            self._login = "Basic " + base64.b64encode(":".join(named).encode()).decode("ascii")

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes of a range, fewer where the file ends.

        Raises
        ------
        FileNotFoundError, PermissionError
            When the server says so; trying again would not help.
        OSError
            For every fault of the network, an answer cut short included.
        ValueError
            When the server does not give ranges.
        """
        request = urllib.request.Request(self._url)  # noqa: S310 -- the caller checks the scheme
        request.add_header("Range", f"bytes={offset}-{offset + size - 1}")
        request.add_header("Accept-Encoding", "identity")
        if self._login is not None:
            request.add_unredirected_header("Authorization", self._login)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
                if answer.status != _PARTIAL and offset:
                    raise ValueError(
                        "the server does not give parts of files (it ignores Range); copy the "
                        "files here, or use another server"
                    )
                given = answer.headers.get("Content-Range", "")
                if answer.status == _PARTIAL and not _begins(given, offset):
                    raise ValueError(f"the server gives another part than asked for ({given:.60})")
                data = _body(answer, size)
                promised = answer.headers.get("Content-Length", "")
                if promised.isdecimal() and len(data) < min(int(promised), size):
                    raise OSError(
                        f"the answer breaks off after {len(data)} of {counted(promised, 'byte')}"
                    )
                return data
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == _PAST_THE_END:
                return b""
            if error.code in (404, 410):
                raise FileNotFoundError(f"the server says {error.code}") from None
            if error.code in (401, 403):
                raise PermissionError(f"the server says {error.code}") from None
            if error.code < 500 and error.code not in (408, 425, 429):
                raise ValueError(f"the server says {error.code} {error.reason}") from None
            raise OSError(f"the server says {error.code} {error.reason}") from None
        except urllib.error.URLError as error:
            raise OSError(str(error.reason)) from None
        except ConnectionError:
            raise OSError("the server closed the connection") from None
        except http.client.IncompleteRead as error:
            raise OSError(
                f"the answer breaks off after {counted(len(error.partial), 'byte')}"
            ) from None
        except http.client.HTTPException as error:
            raise OSError(f"the answer cannot be understood ({type(error).__name__})") from None


def _begins(given: str, offset: int) -> bool:
    """Tell whether a ``Content-Range``, where there is one, begins at an offset."""
    return not given or given.removeprefix("bytes ").startswith(f"{offset}-")


def _body(answer: http.client.HTTPResponse, size: int) -> bytes:
    """Read at most ``size`` bytes; an answer that trickles in breaks off (``TimeoutError``)."""
    until = time.monotonic() + TIMEOUT + size / SLOWEST
    data = bytearray()
    while len(data) < size and (part := answer.read1(size - len(data))):
        data += part
        if len(data) > size:  # a chunk of negative length makes the library read on
            raise OSError("the answer has a chunk of impossible length")
        if time.monotonic() > until:
            raise TimeoutError(
                f"the server has sent {len(data)} of {counted(size, 'byte')}, too slowly"
            )
    return bytes(data)
