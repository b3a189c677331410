import json
from pathlib import Path

import pytest

from floorbench.core.vocab import Role
from floorbench.datasets.dualturn_rows import COLUMNS, FrameRowsSource
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn import RATE
from support.frame_rows import FRAMES, row, tracks, write


def test_rows_become_sessions_without_words(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", [row("a", 1), row("b", 2)])
    write(tmp_path / "test.parquet", [row("c", 3)])
    source = open_dataset(tmp_path)
    assert isinstance(source, FrameRowsSource)
    assert source.ids == ("a", "b", "c")
    assert [source.splits.of(i) for i in source.ids] == ["train", "train", "test"]
    found = source.session("b")
    assert found.vad(RATE)[Role.USER].astype(int).tolist() == tracks(2)["vad_ch0"]
    assert found.source == "frames"
    assert not found.words
    assert [s.id for s in source.sessions("test")] == ["c"]
    swapped = FrameRowsSource(tmp_path, user=1).session("b")
    assert swapped.vad(RATE)[Role.SYSTEM].astype(int).tolist() == tracks(2)["vad_ch0"]


def test_a_list_of_splits_beside_the_rows(tmp_path: Path) -> None:
    write(tmp_path / "rows.parquet", [row("a", 1), row("b", 2)])
    (tmp_path / "splits.json").write_text(json.dumps({"val": ["a"], "test": ["b"]}))
    assert FrameRowsSource(tmp_path).splits.of("a") == "validation"


def test_a_mapping_file_names_the_columns(tmp_path: Path) -> None:
    plain = row("a", 1)
    renamed = {
        k.replace("vad_ch", "speech_").replace("session_id", "call"): v for k, v in plain.items()
    }
    write(tmp_path / "rows.parquet", [renamed])
    mapping = tmp_path / "columns.json"
    with pytest.raises(DataError, match=r"FB255 .*'session_id'"):
        FrameRowsSource(tmp_path)
    mapping.write_text(json.dumps({"session": "call", "vad": "speech_{channel}"}))
    found = FrameRowsSource(tmp_path, columns=str(mapping)).session("a")
    assert found.vad(RATE)[Role.USER].astype(int).tolist() == plain["vad_ch0"]
    for wrong, says in (({"vad": "speech"}, "per channel"), ({"session": "s{channel}"}, "both")):
        mapping.write_text(json.dumps(wrong))
        with pytest.raises(DataError, match=rf"FB255.*{says}"):
            FrameRowsSource(tmp_path, columns=str(mapping))
    mapping.write_text(json.dumps({"sesion": "call"}))
    with pytest.raises(DataError, match=r"FB255(?s:.)*did you mean 'session'"):
        FrameRowsSource(tmp_path, columns=str(mapping))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"vad_ch0": [0] * (FRAMES - 1)}, "num_frames is 600"),
        ({"eot_ch1": [2] * FRAMES}, "other than 0 and 1"),
        ({"duration_s": FRAMES / 50}, "12.5 frames a second"),
        ({"vad_ch0": None}, r"shape \(\)"),
        ({"vad_ch1": []}, r"shape \(0,\)"),
        ({"vad_ch1": [None] * FRAMES}, "other than 0 and 1"),
        ({"vad_ch1": [[0]] * FRAMES}, "shape"),
        ({"vad_ch0": 3}, "shape"),
        ({"bc_ch0": ["0"] * FRAMES}, "other than 0 and 1"),
        ({"num_frames": None}, "num_frames is None"),
        ({"num_frames": "many"}, "num_frames is 'many'"),
        ({"num_frames": -1, "duration_s": None}, "num_frames is -1"),
        ({"duration_s": float("nan")}, "duration_s is nan"),
        ({"duration_s": "long"}, "duration_s is 'long'"),
    ],
)
def test_malformed_rows_are_refused(tmp_path: Path, change: dict, says: str) -> None:
    write(tmp_path / "rows.parquet", [row("a", 1, **change)])
    with pytest.raises(DataError, match=rf"FB255 .*{says}"):
        FrameRowsSource(tmp_path).session("a")


def test_the_documented_mapping_file_is_the_default() -> None:
    path = Path(__file__).parents[2] / "docs" / "reference" / "dualturn-columns.json"
    assert json.loads(path.read_text()) == dict(COLUMNS)


def test_a_session_twice_and_bad_options(tmp_path: Path) -> None:
    write(tmp_path / "one.parquet", [row("a", 1), row("a", 1)])
    with pytest.raises(DataError, match=r"FB255 .*twice"):
        FrameRowsSource(tmp_path)
    with pytest.raises(UsageError, match=r"FB103"):
        FrameRowsSource(tmp_path, fvad="both")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"FB103"):
        FrameRowsSource(tmp_path, user=2)


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"nothing")
    assert not FrameRowsSource.detect(tmp_path)
    with pytest.raises(DataError, match=r"FB255"):
        FrameRowsSource(tmp_path)


@pytest.mark.parametrize("session_id", [None, ""])
def test_a_row_without_a_session_id_is_refused(tmp_path: Path, session_id: str | None) -> None:
    write(tmp_path / "rows.parquet", [row("a", 1), {**row("b", 2), "session_id": session_id}])
    with pytest.raises(DataError, match=r"FB255 .*rows.parquet:2: a row without a session id"):
        FrameRowsSource(tmp_path)


@pytest.mark.parametrize("label", ["eot", "hold", "bot", "bc"])
def test_labels_of_one_channel_only_are_refused(tmp_path: Path, label: str) -> None:
    write(
        tmp_path / "rows.parquet", [{k: v for k, v in row("a", 1).items() if k != f"{label}_ch1"}]
    )
    with pytest.raises(DataError, match=rf"FB255 .*'{label}' of one channel only"):
        FrameRowsSource(tmp_path).session("a")


def test_a_session_of_no_frame_has_no_event(tmp_path: Path) -> None:
    empty = {k: [] if isinstance(v, list) else v for k, v in row("a", 1).items()}
    write(tmp_path / "rows.parquet", [{**empty, "num_frames": 0, "duration_s": 0.0}])
    assert not len(FrameRowsSource(tmp_path).session("a").speech[Role.USER])


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write(path, [row("a", 1)])
    data = bytearray(path.read_bytes())
    data[200:2000] = bytes(1800)
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"FB255 .*rows.parquet: a damaged file"):
        list(FrameRowsSource(tmp_path).sessions())


def test_a_column_name_that_is_no_text_is_a_fault_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    write(file, [row("a", 1)])
    file.write_bytes(file.read_bytes().replace(b"vad_ch0", b"vad\xdfch0"))
    with pytest.raises(DataError, match=r"FB255 .*not Parquet"):
        FrameRowsSource(tmp_path)
