"""Every module has its test file, and every test file its module."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "floorbench"
TESTS = ROOT / "tests"
ROOMS = [p.name for p in SRC.iterdir() if p.is_dir() and (p / "__init__.py").exists()]
# Values without behaviour of their own; their rules are tested where they are used.
DATA_ONLY = {"core/ports.py", "core/spec.py", "catalog/systems.py", "catalog/metrics.py"}
# The table of error codes is guarded as a whole by architecture/test_errors_listed.py.
CODES = {p.relative_to(SRC).as_posix() for p in (SRC / "errors" / "codes").glob("*.py")}
# Modules that are tested together: every format is read, written and broken by the same tests.
TOGETHER = {
    "properties/test_formats_roundtrip.py": (
        *("abilities", "audacity", "ctm", "cues", "eaf_times", "eaf_write", "fit", "jsontext"),
        *("rows", "rttm", "seglst", "source", "srt", "stm", "table", "textgrid", "uem", "vtt"),
        "wordjson",
    ),
}
COVERED = {f"formats/{name}.py" for names in TOGETHER.values() for name in names}
# Rendering is tested through the recipe that calls it.
TOGETHER["build/test_starter_codett.py"] = ("starter_render",)
COVERED.add("build/starter_render.py")


def test_modules_tested_together_are_there() -> None:
    assert all((TESTS / test).exists() for test in TOGETHER)
    assert all((SRC / module).exists() for module in COVERED)


def test_every_module_has_a_test_file() -> None:
    missing = []
    for module in SRC.rglob("*.py"):
        name = module.relative_to(SRC).as_posix()
        if module.name.startswith("__") or name in DATA_ONLY | COVERED | CODES:
            continue
        expected = TESTS / module.relative_to(SRC).parent / f"test_{module.name}"
        if not expected.exists():
            missing.append(name)
    assert not missing, f"modules without tests/<room>/test_<module>.py: {sorted(missing)}"


def test_every_test_file_of_a_room_has_a_module() -> None:
    stray = [
        test.relative_to(TESTS).as_posix()
        for room in ROOMS
        for test in (TESTS / room).rglob("test_*.py")
        if not (SRC / test.relative_to(TESTS).parent / test.name.removeprefix("test_")).exists()
    ]
    assert not stray, f"tests of modules that are not there: {sorted(stray)}"
