from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

from floorbench.core.prediction import Prediction
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError, UsageError
from floorbench.events.traces import trace_values
from floorbench.run.checking import check
from floorbench.run.predictions import read_predictions
from floorbench.run.scoring import open_predictions, score
from floorbench.run.traces import get
from floorbench.run.traces_import import Declared, import_traces, read_trace
from floorbench.tasks.vap import VapTask
from support import two_channel_tiny as tiny

HEAD = "time_sec,p_now(0=left),p_now(1=right),p_future(0=left),p_future(1=right)\n"


@pytest.fixture
def source(tmp_path: Path) -> SwitchboardSource:
    folder = tiny.build(tmp_path / "calls", ("sw9001", "sw9005"))
    return SwitchboardSource(folder, splits="none")


def text_trace(
    path: Path, *, seconds: float = 60.0, step: float = 0.05, first: float = 0.07
) -> Path:
    n = int(seconds / step)
    rows = [f"{first + k * step:.2f},{k % 2},{1 - k % 2},0.25,0.75" for k in range(n)]
    path.write_text(HEAD + "\n".join(rows) + "\n")
    return path


def loaded(folder: Path) -> list[Prediction]:
    return list(read_predictions(folder))


def test_a_text_trace_is_imported_checked_and_scored(tmp_path: Path, source) -> None:
    files = [text_trace(tmp_path / f"{i}.csv") for i in ("sw9001", "sw9005")]
    out = tmp_path / "out"
    import_traces(files, source=source, declared=Declared(), out=out)
    first = loaded(out)[0]
    trace = get(out, first.decision).trace
    assert trace is not None
    assert trace.rate == "20"
    assert trace.look_ahead == pytest.approx(0.02)  # rows stand 20 ms after the end of their frame
    assert trace.columns == ("p_now:user", "p_now:system", "p_future:user", "p_future:system")
    assert trace_values(trace)[:2].tolist() == [[0, 1, 0.25, 0.75], [1, 0, 0.25, 0.75]]
    journal = out / "predictions.jsonl"
    assert check(journal, VapTask(), source) == []
    result = score(open_predictions(journal, task=VapTask(), source=source), draws=50)
    assert result.coverage.ok == 2
    again = score(open_predictions(out, task=VapTask(), source=source), draws=50)
    assert again.estimates == result.estimates  # the folder is as good as the file in it
    auc = next(e for e in result.estimates if e.metric == "auc")
    assert auc.value is not None


def test_sessions_of_the_training_part_are_left_out_and_told(tmp_path: Path) -> None:
    names = ("sw9001", "sw9005")
    folder = tiny.build(tmp_path / "calls", names)
    splits = tmp_path / "splits.json"
    splits.write_text('{"train": ["sw9001"], "validation": [], "test": ["sw9005"]}')
    source = SwitchboardSource(folder, splits=str(splits))
    files = [text_trace(tmp_path / f"{i}.csv") for i in names]
    out, told = tmp_path / "out", []
    import_traces(files, source=source, declared=Declared(), out=out, notify=told.append)
    assert [p.sample_id for p in loaded(out)] == ["sw9005"]
    assert told == ["left out, of the training part: sw9001"]
    opened = open_predictions(out, task=VapTask(), source=source)
    assert score(opened, draws=50).coverage.ok == 1


def test_a_folder_is_written_once(tmp_path: Path, source) -> None:
    file = text_trace(tmp_path / "sw9001.csv")
    import_traces([file], source=source, declared=Declared(), out=tmp_path / "out")
    with pytest.raises(UsageError, match=r"FB103 .*already"):
        import_traces([file], source=source, declared=Declared(), out=tmp_path / "out")


@pytest.mark.parametrize(
    ("first", "given", "kept"),
    [
        (0.07, 0.0, 0.02),
        (0.07, 0.24, 0.26),
        (0.05, 0.24, 0.24),
        (0.0, 0.24, 0.24),
        (0.02, 0.0, 0.0),
    ],
)
def test_times_of_frame_starts_never_shorten_the_look_ahead(
    tmp_path: Path, first: float, given: float, kept: float
) -> None:
    """A file that writes 0.00 for its first frame must not be heard one frame early."""
    path = text_trace(tmp_path / "s.csv", first=first)
    trace = read_trace(path, Declared(rate=Fraction(20), look_ahead=given))
    assert trace.look_ahead == pytest.approx(kept)


def test_the_first_channel_may_be_the_systems(tmp_path: Path) -> None:
    file = text_trace(tmp_path / "x.csv")
    swapped = read_trace(file, Declared(swap=True))
    assert swapped.columns[:2] == ("p_now:system", "p_now:user")


def test_another_rate_than_declared_is_refused(tmp_path: Path, source) -> None:
    file = text_trace(tmp_path / "sw9001.csv")
    with pytest.raises(DataError, match=r"FB533 .*row 1 stands at 0.12 s, at 50 frames"):
        read_trace(file, Declared(rate=Fraction(50)))
    short = text_trace(tmp_path / "sw9005.csv", seconds=30.0)
    with pytest.raises(DataError, match=r"FB533 .*30.00 s.*60.00 s"):
        import_traces([short], source=source, declared=Declared(), out=tmp_path / "out")
    np.save(tmp_path / "a.npy", np.zeros((5, 1)))
    with pytest.raises(DataError, match=r"FB533 .*declare"):
        read_trace(tmp_path / "a.npy", Declared(columns=("eot:user",)))


def test_scores_of_an_unknown_session_are_refused(tmp_path: Path, source) -> None:
    file = text_trace(tmp_path / "sw9002.csv")
    with pytest.raises(DataError, match=r"FB534 .*'sw9002'(?s:.)*sw9005"):
        import_traces([file], source=source, declared=Declared(), out=tmp_path / "out")
    named = tmp_path / "named"
    import_traces([file], source=source, declared=Declared(), out=named, session="sw9001")
    assert loaded(named)[0].sample_id == "sw9001"
    with pytest.raises(UsageError, match=r"FB103"):
        import_traces([file, file], source=source, declared=Declared(), out=tmp_path / "o",
                      session="sw9001")  # fmt: skip
    with pytest.raises(DataError, match=r"FB203"):
        import_traces([text_trace(tmp_path / "sw9001.csv")] * 2, source=source,
                      declared=Declared(), out=tmp_path / "p")  # fmt: skip


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (HEAD + "0.07,nan,0,0,0\n0.12,0,0,0,0\n", r"FB531 .*:2"),
        (HEAD + "0.07,0,0,0\n", r"FB531 .*:2.*4 cells"),
        (HEAD + "0.07,a,0,0,0\n", r"FB531 .*:2.*not numbers"),
        (HEAD, "FB531 .*no row"),
        (HEAD + "0.07,0,0,0,0\n0.07,0,0,0,0\n", "FB533 .*rise"),
        (HEAD + "0,0,0,0,0\n808,0,0,0,0\n", "FB533 .*808 s apart: declare the frame rate"),
        ("frame,p_now(0)\n0,1\n", "FB531 .*not a time"),
        ("time_sec,loudness\n0.05,1\n0.1,1\n", r"FB531 .*loudness(?s:.)*signal:role"),
    ],
)
def test_malformed_text_is_refused(tmp_path: Path, body: str, says: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(body)
    with pytest.raises(DataError, match=says):
        read_trace(path, Declared())


RATE = Fraction(25, 2)


def test_arrays_with_declared_columns(tmp_path: Path) -> None:
    values = np.arange(6.0).reshape(3, 2) / 10
    declared = Declared(rate=RATE, look_ahead=0.24, columns=("eot:user", "bc:system"))
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "b.npz", values=values)
    for name in ("a.npy", "b.npz"):
        trace = read_trace(tmp_path / name, declared)
        assert trace_values(trace) == pytest.approx(values)
        assert trace.look_ahead == 0.24
        assert trace.columns == ("eot:user", "bc:system")
    with pytest.raises(DataError, match=r"FB531 .*2 columns, 1 name"):
        read_trace(tmp_path / "a.npy", Declared(rate=RATE, columns=("eot:user",)))
    named = Declared(rate=RATE, columns=("1=bot:user",))
    assert trace_values(read_trace(tmp_path / "a.npy", named))[:, 0] == pytest.approx(values[:, 1])


def test_named_probabilities_are_known(tmp_path: Path) -> None:
    parts = {"eot_ch0": np.full(4, 0.25), "bc_ch1": np.full(4, 0.5), "fvad_ch0": np.ones((4, 4))}
    np.savez(tmp_path / "a.npz", **parts)
    trace = read_trace(tmp_path / "a.npz", Declared(rate=RATE))
    assert set(trace.columns) == {
        "eot:user", "bc:system", "fvad1:user", "fvad2:user", "fvad3:user", "fvad4:user",
    }  # fmt: skip


def test_parquet_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql(
        "SELECT (i + 1) * 0.08 AS time_sec, 0.5 AS eot_ch0, 'x' AS note FROM range(10) t(i)"
    ).write_parquet(str(path))
    trace = read_trace(path, Declared())
    assert (trace.rate, trace.frames, trace.columns) == ("25/2", 10, ("eot:user",))
    duckdb.sql("SELECT 0.5 AS eot_ch0 UNION ALL SELECT NULL").write_parquet(str(path))
    with pytest.raises(DataError, match=r"FB531 .*empty cells"):
        read_trace(path, Declared(rate=RATE))


def test_pickles_and_other_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match=r"FB531"):
        read_trace(tmp_path / "a.npy", Declared(rate=RATE))
    (tmp_path / "b.npz").write_bytes(b"x")
    with pytest.raises(DataError, match=r"FB531"):
        read_trace(tmp_path / "b.npz", Declared(rate=RATE))
    np.save(tmp_path / "c.npy", np.array([[np.nan]]))
    with pytest.raises(DataError, match=r"FB531 .*frame 0"):
        read_trace(tmp_path / "c.npy", Declared(rate=RATE, columns=("eot:user",)))
    with pytest.raises(DataError, match=r"FB531 .*suffix"):
        read_trace(tmp_path / "d.pkl", Declared(rate=RATE))
    with pytest.raises(DataError, match=r"FB402"):
        read_trace(tmp_path / "none.npy", Declared(rate=RATE))


def test_the_real_text_trace(real_data: Path) -> None:
    trace = read_trace(real_data / "formats" / "vap_realtime_output.csv", Declared())
    assert (trace.rate, trace.frames) == ("20", 5312)
    values = trace_values(trace)
    assert values[0, 0] == pytest.approx(0.29654383659)
    assert values[:, :2].sum(axis=1) == pytest.approx(1.0, abs=1e-4)


N = 12
EOT = ("eot:user", "eot:system")
ODD_ARRAYS = {
    "objects": (np.array([[{}, {}]] * N, dtype=object), "pickled objects"),
    "one dimension": (np.zeros(N), "shape"),
    "three dimensions": (np.zeros((N, 2, 1)), "shape"),
    "complex": (np.zeros((N, 2), dtype=complex), "complex128"),
    "text": (np.full((N, 2), "a"), "not"),
    "records": (np.zeros(N, dtype=[("a", "f4")]), "shape"),
    "dates": (np.zeros((N, 2), dtype="M8[s]"), "datetime64"),
    "turned": (np.zeros((2, N)), "12 columns, 2 names"),
    "too large": (np.full((N, 2), 1e300), "frame 0 is inf"),
    "no number": (np.full((N, 2), np.nan), "frame 0 is nan"),
    "no frame": (np.zeros((0, 2)), "at least one frame"),
}


@pytest.mark.parametrize(("array", "says"), ODD_ARRAYS.values(), ids=ODD_ARRAYS)
def test_arrays_that_are_no_scores(tmp_path: Path, array: np.ndarray, says: str) -> None:
    np.save(tmp_path / "s.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=rf"FB531 .*s.npy: .*{says}"):
        read_trace(tmp_path / "s.npy", Declared(rate=Fraction(25, 2), columns=EOT))


ODD_ARCHIVES = {
    "names as objects": (
        {"values": np.zeros((N, 2)), "columns": np.array(EOT, dtype=object)},
        "pi",
    ),
    "values as objects": ({"values": np.array([[None] * 2] * N), "columns": np.array(EOT)}, "pi"),
    "part as objects": ({"eot_ch0": np.array([None] * N)}, "pickled objects"),
    "fewer names": ({"values": np.zeros((N, 2)), "columns": np.array(EOT[:1])}, "2 .* 1 name"),
    "text": ({"eot_ch0": np.full(N, "x")}, "'eot_ch0' has shape"),
    "a single number": ({"eot_ch0": np.float64(1)}, "'eot_ch0' has shape"),
    "three dimensions": ({"fvad_ch0": np.zeros((N, 1, 1))}, "'fvad_ch0' has shape"),
    "uneven": ({"eot_ch0": np.zeros(N), "eot_ch1": np.zeros(N - 1)}, "lengths"),
    "uneven times": ({"time_sec": np.arange(N - 1.0), "eot_ch1": np.zeros(N)}, "lengths"),
    "only times": ({"time_sec": np.arange(float(N))}, "no column of numbers"),
    "nothing": ({}, "no column of numbers"),
}


@pytest.mark.parametrize(("parts", "says"), ODD_ARCHIVES.values(), ids=ODD_ARCHIVES)
def test_archives_that_are_no_scores(tmp_path: Path, parts: dict, says: str) -> None:
    np.savez(tmp_path / "s.npz", **parts)
    with pytest.raises(DataError, match=rf"FB531 .*s.npz: .*{says}"):
        read_trace(tmp_path / "s.npz", Declared(rate=Fraction(25, 2)))


def test_a_damaged_archive_and_one_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, values=np.zeros((N, 2)), columns=np.array(EOT))
    whole = path.read_bytes()
    path.write_bytes(whole[:150] + b"\1" * 60 + whole[210:])
    with pytest.raises(DataError, match=r"FB531 .*not an array file"):
        read_trace(path, Declared(rate=Fraction(25, 2)))
    (tmp_path / "s.npy").write_bytes(whole)
    with pytest.raises(DataError, match=r"FB531 .*name it .npz"):
        read_trace(tmp_path / "s.npy", Declared(rate=Fraction(25, 2), columns=EOT))


@pytest.mark.parametrize(
    "select", ["'a' AS eot_ch0", "[0.5] AS eot_ch0", "now() AS eot_ch0", "NULL AS eot_ch0"]
)
def test_parquet_without_numbers_is_refused(tmp_path: Path, select: str) -> None:
    duckdb.sql(f"SELECT {select} FROM range({N})").write_parquet(str(tmp_path / "s.parquet"))
    with pytest.raises(DataError, match=r"FB531 .*s.parquet: (no column of|.*empty cells)"):
        read_trace(tmp_path / "s.parquet", Declared(rate=Fraction(25, 2)))


@pytest.mark.parametrize("look_ahead", [-0.1, float("nan"), float("inf"), 100.0])
def test_an_impossible_look_ahead_is_refused(look_ahead: float) -> None:
    with pytest.raises(UsageError, match=r"FB103 look-ahead .* is not in \[0, 30\]"):
        Declared(look_ahead=look_ahead)
