import subprocess
import sys

import pytest

from floorbench.errors import UsageError
from floorbench.formats.registry import FORMATS, Codec, by_extension, codec


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_target_loads_and_every_extension_leads_back(name):
    assert isinstance(codec(name), Codec)
    for extension in FORMATS[name].extensions:
        assert by_extension(f"Call.{extension}".replace("..", ".").upper()) == name


def test_unknown_names_get_a_suggestion_or_the_list():
    with pytest.raises(UsageError, match="did you mean 'rttm'"):
        codec("rtm")
    with pytest.raises(UsageError, match="formats: textgrid, eaf"):
        codec("parquet")


def test_formats_are_imported_when_used_and_need_the_standard_library_only():
    code = (
        "import sys, floorbench.formats as f\n"
        "assert 'floorbench.formats.eaf' not in sys.modules\n"
        "from floorbench.formats.registry import codec\n"
        "[codec(name) for name in f.FORMATS]\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)))\n"
    )
    path = [entry for entry in sys.path if entry.endswith("src")]
    out = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert out.stdout.strip() == "['__main__', 'floorbench']"
