from __future__ import annotations

import json

from support import stands
from support.cli_calls import called


def test_a_good_program_passes_and_a_bad_one_is_a_finding(tmp_path, capsys):
    code, out, _ = called(capsys, "worker", "check", stands.program(tmp_path))
    assert code == 0
    assert "says hello" in out
    bad = stands.program(tmp_path, "{'label': 'done'}")
    code, out, _ = called(capsys, "worker", "check", bad, "--json")
    assert code == 1
    assert any(c["detail"].endswith("not declared") for c in json.loads(out) if not c["fine"])
