"""Reader of packed datasets: shards on disk or at any address, read in order.

The format is described in :mod:`floorbench.datasets.shard_index`, packing in
:mod:`floorbench.datasets.shard_pack`.

Notes
-----
Samples come in the order in which they were packed, shard by shard, so a run in one process reads
each tar file once from front to back. Samples are read from the indexes alone; audio is fetched
when it is listened to, by address and byte range, and checked against its SHA-256. Clusters,
strata, tags and targets are those that the packed dataset had, and so is the digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from floorbench.audio.addresses import HIDDEN, is_url, join, shown
from floorbench.audio.member import Member
from floorbench.audio.ref import FileAudio
from floorbench.core.plain import sample_from_plain
from floorbench.core.sample import AudioRef, JsonValue, Sample
from floorbench.core.vocab import Role
from floorbench.datasets.echo_audio import SilencedAudio
from floorbench.datasets.shard_index import HEADER, Entry, Header, read_header, read_index
from floorbench.errors import DataError, FloorbenchError, Place


class ShardsSource:
    """A packed dataset.

    Parameters
    ----------
    path : str or Path
        The folder, or its URL: ``http://``, ``https://``, or anything that fsspec opens.

    Raises
    ------
    DataError
        ``FB281`` when there is no header of a packed dataset, ``FB282`` or ``FB286`` when it
        cannot be reached.
    """

    def __init__(self, path: str | Path) -> None:
        self.address = str(path)
        if HIDDEN in self.address:
            raise DataError(
                "FB286",
                "the address was kept without its credentials",
                where=Place(self.address),
                hint="give the whole address again with --data",
            )
        if not is_url(self.address) and Path(path).name == HEADER:
            self.address = str(Path(path).parent)
        self.header: Header = read_header(self.address)
        self.name = self.header.name

    @classmethod
    def detect(cls, path: Path) -> bool:
        """Tell whether ``path`` is a folder with the header of a packed dataset."""
        return (path.name == HEADER and path.is_file()) or (path / HEADER).is_file()

    def locator(self) -> Mapping[str, JsonValue]:
        """Return reader and address; a password or signature in it is not kept."""
        return {"reader": "shards", "path": shown(self.address)}

    def describe(self) -> Mapping[str, JsonValue]:
        """Return what the packed dataset said of itself."""
        return dict(self.header.describe)

    def digest(self) -> str:
        """Return the digest of the data that were packed."""
        return self.header.digest

    def samples(self) -> Iterator[Sample]:
        """Yield the samples shard by shard.

        Raises
        ------
        DataError
            ``FB282`` to ``FB287`` for a shard that is missing, shortened, changed or contradicts
            the header.
        """
        first = 0
        for shard in self.header.shards:
            tar = join(self.address, shard.file)
            for entry in read_index(self.address, shard, first=first):
                yield sample_of(entry, tar)
            first += shard.samples


class _Plain(msgspec.Struct, forbid_unknown_fields=True):
    """What every part of a plain sample refuses: a key that it does not have."""


class _Audio(_Plain):
    member: str
    channel: int | Literal["mix"] | None = None
    cutoff: float | None = None
    silent_from: float | None = None


class _Turn(_Plain):
    role: Role
    text: str | None = None
    audio: _Audio | msgspec.UnsetType = msgspec.UNSET


class _Word(_Plain):
    text: str
    role: Role
    span: tuple[float, float] | msgspec.UnsetType = msgspec.UNSET


class _Question(_Plain):
    text: str
    answers: list[str]


class _Observation(_Plain):
    language: str
    state: str | None = None
    turns: list[_Turn] = msgspec.field(default_factory=list)
    channels: dict[Role, _Audio] = msgspec.field(default_factory=dict)
    text: str | None = None
    words: list[_Word] = msgspec.field(default_factory=list)
    activity: dict[Role, list[tuple[float, float]]] = msgspec.field(default_factory=dict)
    spoken_prefix: str | None = None
    question: _Question | None = None
    cutoff: float | None = None
    repeat: Annotated[int, msgspec.Meta(ge=0)] = 0


class _Sample(_Plain):
    """Keys and types of an index entry's sample (see :mod:`floorbench.core.plain`)."""

    id: str
    cluster: str
    observation: _Observation
    target: dict[str, Any]
    tags: dict[str, str]
    stratum: str = ""


def sample_of(entry: Entry, tar: str) -> Sample:
    """Return the sample of an index entry; its audio is fetched when it is listened to.

    Parameters
    ----------
    entry : Entry
    tar : str
        Address of the shard.

    Raises
    ------
    DataError
        ``FB285`` when the entry is not a sample.
    """

    def audio(plain: Any) -> AudioRef:
        name = plain["member"]
        span = entry.members[name]
        member = Member(tar, span.offset, span.size, span.sha256, f"{entry.key}.{name}")
        found = FileAudio(member, channel=plain.get("channel"), cutoff=plain.get("cutoff"))
        silent = plain.get("silent_from")
        return found if silent is None else SilencedAudio(found, silent_from=silent)

    try:
        msgspec.convert(entry.sample, _Sample)
        return sample_from_plain(entry.sample, audio)
    except FloorbenchError as error:
        what = f"the sample is malformed: {error.what}"
    except msgspec.ValidationError as error:
        what = f"the sample is malformed ({error})"
    except KeyError as error:
        what = f"the sample names the member {error}, which the index does not"
    raise DataError("FB285", what, where=Place(shown(tar), item=entry.key))
