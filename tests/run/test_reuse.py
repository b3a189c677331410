from pathlib import Path

from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.reuse import finished_run
from support.engine_toys import Source, Task


def test_only_a_complete_run_of_the_same_thing_is_found(tmp_path: Path) -> None:
    task, source = Task(), Source(6)
    choice = SystemChoice(name="support.engine_toys:System")
    given = {"task": task, "system": choice, "source": source}
    assert finished_run(tmp_path, **given) is None
    folder = run(**given, out=tmp_path, notify=lambda _: None)
    found = finished_run(tmp_path, **given)
    assert found is not None
    assert found.path == folder.path
    assert finished_run(tmp_path, **given, seed=1) is None
    assert finished_run(tmp_path, **given, limit=3) is None
    assert finished_run(tmp_path, **{**given, "source": Source(7)}) is None
    record = folder.path / "run.json"
    record.write_text(record.read_text().replace('"complete"', '"interrupted"'))
    assert finished_run(tmp_path, **given) is None
    record.write_text("{broken")
    assert finished_run(tmp_path, **given) is None
