"""FB1xx: usage, names, command line."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB101": Code(
        "unknown name",
        "No task, system, dataset, metric or asset of that name is registered.",
        "Use the suggested spelling, or `floorbench list` for all names.",
    ),
    "FB102": Code(
        "name registered twice",
        "Two packages register the same name through entry points.",
        "Uninstall one of them or rename its entry point.",
    ),
    "FB103": Code(
        "bad option value",
        "A command-line option or a parameter has a value outside its range.",
        "Correct what the message names; `--help` behind the command says what is allowed.",
    ),
}
