import pickle

from floorbench.errors import CODES, DataError, Place, did_you_mean, missing_extra


def test_an_error_says_code_place_what_and_hint() -> None:
    error = DataError("FB203", "sample 'a' appears twice", where=Place("p.jsonl", 17))
    assert str(error).splitlines() == [
        "FB203 p.jsonl:17: sample 'a' appears twice",
        f"hint: {CODES['FB203'].way_out}",
    ]


def test_places_read_well_in_part() -> None:
    assert str(Place("f", None, "x")) == "f [x]"
    assert str(Place(None, None, "x")) == "x"
    assert str(Place()) == ""


def test_errors_cross_process_borders_whole() -> None:
    error = DataError("FB202", "bad", where=Place("f", 1), hint="do this")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (DataError, str(error))


def test_suggestions_ignore_case_and_refuse_the_far() -> None:
    assert did_you_mean("SMART-TURN-v3.1", ["smart-turn-v3.2", "oracle"]) == "smart-turn-v3.2"
    assert did_you_mean("zzz", ["smart-turn-v3.2"]) is None


def test_a_missing_extra_names_its_install_line() -> None:
    error = missing_extra("onnxruntime", "onnx")
    assert error.exit_code == 3
    assert 'pip install "floorbench[onnx]"' in str(error)
