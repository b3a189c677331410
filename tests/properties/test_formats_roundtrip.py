"""Whatever is written reads back as what the format can hold, for every format."""

import tempfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from floorbench.formats import FORMATS, Document, Entry, Tier, read, write
from floorbench.formats.abilities import LossCounter
from floorbench.formats.fit import fit
from floorbench.formats.registry import codec
from floorbench.formats.tiers import ordered

NASTY = "abé中 \"'<>&!;:\n\r\t\x15%*-|\u3000\u2028\x85\ufeff\x0b\x01,._01[]{}/\\#@"
TELLING = [
    "", "a", "uh huh", "-->", "NOTE x", "<v A>", "</v>", "<NA>", "<o,f0>", "<> a", "[silence]",
    ";;", "&amp;", "&lt;b&gt;", "\x151_2\x15", "+...", ".", '"', '""', "1", "00:01 --> 00:02",
    "%mor:", "intervals [1]", "]]>", "xmin = 5",
]  # fmt: skip
words = st.sampled_from(TELLING) | st.text(alphabet=NASTY, max_size=6)
times = st.decimals(min_value=0, max_value=50, allow_nan=False, allow_infinity=False, places=2)
fine = st.decimals(min_value=-3, max_value=9, allow_nan=False, allow_infinity=False, places=17)
maybe = st.none() | words
extras = st.dictionaries(
    st.sampled_from(["settings", "id", "label", "segment", "type", "subtype", "low", "high", "x"]),
    words,
    max_size=2,
)


@st.composite
def entry(draw, *, point, untimed, clock):
    first = draw(clock)
    last = first if point else first + draw(st.decimals(min_value=0, max_value=4, places=2))
    if untimed and draw(st.integers(0, 5)) == 0:
        first, last = draw(st.sampled_from([(None, None), (first, None), (None, last)]))
    return Entry(
        start=first,
        end=last,
        text=draw(words),
        confidence=draw(st.none() | st.just(Decimal("0.75"))),
        extra=draw(extras),
        estimated=draw(st.sampled_from(["", "", "", "start", "both"])),
    )


@st.composite
def tier(draw, above):
    kind = draw(st.sampled_from(["interval", "interval", "point"]))
    clock = times if draw(st.integers(0, 3)) else fine
    one = entry(point=kind == "point", untimed=kind == "interval", clock=clock)
    entries = ordered(draw(st.lists(one, max_size=5)))
    parent = constraint = None
    if above and draw(st.booleans()):
        parent = draw(st.sampled_from(above))
        constraint = draw(
            st.sampled_from(
                ["Symbolic_Association", "Symbolic_Subdivision", "Included_In", "Time_Subdivision"]
            )
        )
        parent, entries = parent.name, _children(draw, parent, constraint, entries)
        kind = "interval"
    name = draw(words)
    extent = (Decimal(0), Decimal(99)) if draw(st.integers(0, 4)) == 0 else None
    return Tier(
        name=f"{parent} %wor" if parent and constraint == "Included_In" else name,
        kind=kind,
        entries=tuple(entries),
        speaker=draw(maybe),
        recording=draw(maybe),
        channel=draw(maybe),
        extent=extent,
        parent=parent,
        constraint=constraint,
    )


def _children(draw, parent, constraint, entries):
    if constraint != "Symbolic_Association":
        if not parent.entries:
            return []
        index = st.integers(0, len(parent.entries) - 1)
        return [Entry(start=e.start, end=e.end, text=e.text, parent=draw(index)) for e in entries]
    return [
        Entry(start=e.start, end=e.end, text=draw(words), parent=n, estimated=e.estimated)
        for n, e in enumerate(parent.entries)
    ]


@st.composite
def documents(draw):
    tiers = []
    for _ in range(draw(st.integers(0, 4))):
        tiers.append(draw(tier([t for t in tiers if t.parent is None])))
    return Document(
        tiers=tuple(tiers),
        duration=draw(st.none() | st.just(Decimal("60.5"))),
        metadata=draw(
            st.dictionaries(
                st.sampled_from(["AUTHOR", "@Languages", "@Comment"]), words, max_size=2
            )
        ),
    )


def written(document, name, folder):
    path = Path(folder) / "call"
    losses = write(document, path, format=name)
    return read(path, format=name), losses


def sorted_tiers(tiers):
    """Order left open, extents, which a TextGrid also keeps as the document's, and speakers that
    only repeat the tier's name, as formats give back that name tiers by speaker."""
    return sorted((replace(tier, extent=None, speaker=_own(tier)) for tier in tiers), key=repr)


def _own(tier):
    return None if tier.speaker == tier.name else tier.speaker


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(document=documents())
def test_a_file_holds_exactly_what_fits(name, document):
    chosen = codec(name)
    lost = LossCounter()
    fitted = fit(document, chosen.abilities, stem="call", lost=lost)
    if name == "ms98" and not fitted.tiers:
        return
    fitted = chosen.prepare(fitted, "call", lost)
    with tempfile.TemporaryDirectory() as folder:
        again, losses = written(document, name, folder)
        assert again.tiers == fitted.tiers
        assert losses == lost.all()
        if not losses:
            assert sorted_tiers(again.tiers) == sorted_tiers(document.tiers)
        second, more = written(again, name, folder)
        assert second.tiers == again.tiers
        assert [str(loss) for loss in more] == []


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    spans=st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 5000)), min_size=1, max_size=6)
)
def test_plain_milliseconds_and_words_lose_nothing(name, spans):
    entries = []
    now = 0
    for gap, length in spans:
        entries.append(
            Entry(start=Decimal(now + gap).scaleb(-3), end=Decimal(now + gap + length).scaleb(-3),
                  text="" if name in ("rttm", "uem") else f"w{now}")
        )  # fmt: skip
        now += gap + length
    with tempfile.TemporaryDirectory() as folder:
        again, _ = written(Document(tiers=(Tier(name="A", entries=tuple(entries)),)), name, folder)
    got = [e for e in again.tiers[0].entries if e.text != "[silence]"]
    assert [(e.start, e.end, e.text) for e in got] == [(e.start, e.end, e.text) for e in entries]
