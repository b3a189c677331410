"""Every function that decodes something is fuzzed, or says why not."""

import ast
from pathlib import Path

from torture.fuzz.registry import LEFT_OUT, TARGETS

from floorbench.formats import FORMATS

SRC = Path(__file__).parents[2] / "src"
CALLS = {
    "json.loads", "json.load", "codec.parse", "codec.decode", "codec.convert", "codec.read_json",
    "csv.reader", "csv.DictReader", "np.load", "soundfile.read", "soundfile.SoundFile",
    "soundfile.info", "shlex.split", "expat.ParserCreate", "date.fromisoformat",
    "datetime.fromisoformat", "np.frombuffer", "number_of", "parsedate_to_datetime",
    "sample_from_plain", "tarfile.TarInfo.frombuf", "urllib.request.urlopen",
}  # fmt: skip
FROM_CODEC = {"parse", "decode", "convert", "read_json"}


def decoding() -> set[str]:
    """Return ``module:function`` of every function with a call that decodes."""
    found = set()
    for path in sorted((SRC / "floorbench").rglob("*.py")):
        module = ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "floorbench.codec"
            for alias in node.names
        } & FROM_CODEC
        for name, function in functions(tree):
            if any(decodes(node, own) for node in ast.walk(function)):
                found.add(f"{module}:{name}")
    return found


def functions(tree: ast.AST, before: str = ""):
    """Yield the outermost functions and the methods of classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{before}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{before}{node.name}", node


def decodes(node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and "read_parquet(" in node.value
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name in CALLS or name in own or name.endswith((".raw_decode", "_ENTRY.decode"))


def test_every_decoding_function_is_fuzzed_or_says_why_not() -> None:
    covered = {name for target in TARGETS.values() for name in target.covers}
    missing = decoding() - covered - LEFT_OUT.keys()
    assert not missing, "add a target under torture/fuzz, or a reason to LEFT_OUT"


def test_every_annotation_format_is_fuzzed() -> None:
    assert {f"format-{name}" for name in FORMATS} <= TARGETS.keys()


def test_what_is_named_is_there() -> None:
    known = set()
    for path in (SRC / "floorbench").rglob("*.py"):
        module = ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        known |= {f"{module}:{n}" for n, _ in functions(ast.parse(path.read_text("utf-8")))}
    named = {name for target in TARGETS.values() for name in target.covers} | LEFT_OUT.keys()
    assert not named - known


def test_nothing_is_left_out_that_decodes_nothing() -> None:
    assert not LEFT_OUT.keys() - decoding()
