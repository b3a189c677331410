"""A million samples: listed, filtered, scored. Seconds and peak memory of the program itself.

    PYTHONPATH=src python benchmarks/bench_manifest.py [--samples 1000000] [--kinds shards,table]

A manifest of labelled clips is generated, without audio (nothing here listens), as a packed
dataset, as a table (``labels.tsv`` with ``manifest.json``) or as lines of CoDeTT's layout, and a
predictions file for it. Each command runs in a process of its own; processor seconds and the
largest resident set are those that the operating system reports for it. The peer is ``json.loads``
over every line of the same samples and predictions, keeping nothing. Exit code 1 when a command
took more than the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from floorbench.core.sample import Observation, Sample
from floorbench.datasets.clips import LABELS
from floorbench.datasets.codett_labels import INTENTS
from floorbench.datasets.shard_pack import pack

LIMIT_MB = 2000
SPEAKERS = 10  # clips of one speaker
DRAWS = 20
PEER = "import json, sys\nfor name in sys.argv[1:]:\n    for line in open(name, 'rb'):\n        json.loads(line)\n"
TASKS = {"shards": "clips", "table": "clips", "lines": "codett"}


class Taken(NamedTuple):
    """What a process took."""

    seconds: float
    megabytes: float


class Made(NamedTuple):
    """A generated manifest: what to name on the command line, and its text files."""

    data: Path
    texts: list[Path]


def clip(i: int) -> tuple[str, str, str, str, str]:
    """Return path, label, text, language and speaker of a clip."""
    label = LABELS[(i * 2654435761 >> 7) % len(LABELS)]
    language = ("en", "zh")[i % 3 == 0]
    return f"audio/{i % 1000:03d}/{i:09d}.wav", label, f"what was said in clip {i}", language, f"s{i // SPEAKERS}"  # fmt: skip


class Source:
    """Clips as a dataset, one after the other."""

    name = "million"

    def __init__(self, samples: int) -> None:
        self._samples = samples

    def locator(self) -> dict[str, Any]:
        return {}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "version": "1", "licence": "none", "notices": []}

    def digest(self) -> str:
        return f"{self._samples:064d}"

    def samples(self) -> Iterator[Sample]:
        for i in range(self._samples):
            path, label, text, language, speaker = clip(i)
            yield Sample(
                id=path,
                cluster=f"given:{speaker}",
                stratum=f"{label} x unknown",
                observation=Observation(language=language, text=text),
                target={"label": label},
                tags={"language": language, "label": label, "source": "unknown", "cluster": "given"},
            )


def shards(folder: Path, samples: int) -> Made:
    pack(Source(samples), folder / "packed")
    return Made(folder / "packed", sorted((folder / "packed").glob("*.jsonl")))


def table(folder: Path, samples: int) -> Made:
    root = folder / "table"
    root.mkdir()
    with (root / "labels.tsv").open("w") as file, (root / "manifest.json").open("w") as manifest:
        file.write("path\tlabel\ttext\tlanguage\tcluster\n")
        manifest.write('{"name": "million", "pcm": {')
        for i in range(samples):
            path, label, text, language, speaker = clip(i)
            file.write(f"{path}\t{label}\t{text}\t{language}\t{speaker}\n")
            manifest.write(f'{", " if i else ""}"{path}": "{i:064x}"')
        manifest.write("}}")
    return Made(root, [])


def lines(folder: Path, samples: int) -> Made:
    root = folder / "lines"
    (root / "jsonls").mkdir(parents=True)
    with (root / "jsonls/all.jsonl").open("w") as file, (root / "manifest.json").open("w") as manifest:
        manifest.write('{"name": "million", "pcm": {')
        for i in range(samples):
            path, _, text, language, _ = clip(i)
            intent = INTENTS[i % len(INTENTS)]
            said = f"系统当前状态: <|{intent.state}|> 输入内容：{text}"
            line = {
                "id": path,
                "dialogue": f"d{i // SPEAKERS}",
                "language": language,
                "messages": [
                    {"role": "system", "content": "You decide."},
                    {"role": "user", "content": said, "audio": path},
                    {"role": "assistant", "content": intent.tags},
                ],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            manifest.write(f'{", " if i else ""}"{path}": "{i:064x}"')
        manifest.write("}}")
    return Made(root, [root / "jsonls/all.jsonl"])


def predictions(path: Path, samples: int, kind: str) -> Path:
    """Write one answer per sample, in the order of the data."""
    said = LABELS if kind != "lines" else ("Maintain", "StopandListen", "Takeover", "Dismiss")
    with path.open("w") as file:
        for i in range(samples):
            condition = '"condition": "h0", ' if kind == "lines" else ""
            file.write(
                f'{{"sample_id": "{clip(i)[0]}", {condition}"decision": {{"label": '
                f'"{said[i * 7 % 5 % 4]}"}}, "compute": {{"wall": 0.25}}}}\n'
            )
    return path


def taken(*command: str) -> Taken:
    """Run a command to its end, its output thrown away."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise SystemExit(f"{command}: {child.returncode}\n{errors.read().decode()}")
    return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 * 1.048576)


def main() -> int:
    """Print the figures; 1 when a command needed more memory than the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--kinds", default="shards,table,lines")
    parser.add_argument("--folder", type=Path, help="where to write; a temporary one by default")
    args = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory(dir=args.folder) as made_in:
        for kind in args.kinds.split(","):
            folder = Path(made_in) / kind
            folder.mkdir()
            made: Made = {"shards": shards, "table": table, "lines": lines}[kind](
                folder, args.samples
            )
            answers = predictions(folder / "answers.jsonl", args.samples, kind)
            peer = taken(sys.executable, "-c", PEER, *map(str, made.texts), str(answers))
            program, data = (sys.executable, "-m", "floorbench"), str(made.data)
            calls = {
                "list": ("data", "list", data),
                "filter": ("data", "list", data, "--where", "language=zh"),
                "count": ("data", "show", data),
                "check predictions": ("check", str(answers), "--task", TASKS[kind], "--data", data),
                f"score, {DRAWS} draws": (
                    *("score", str(answers), "--task", TASKS[kind], "--data", data),
                    *("--draws", str(DRAWS)),
                ),
            }
            print(f"{args.samples:,} samples as {kind}; json.loads over them {peer.seconds:.1f} s")
            for name, call in calls.items():
                found = taken(*program, *call)
                worst = max(worst, found.megabytes)
                print(
                    f"  {name:18} {found.seconds:7.1f} s  ratio {found.seconds / peer.seconds:6.2f}"
                    f"  peak {found.megabytes:7.0f} MB",
                    flush=True,
                )
    print(f"largest peak {worst:.0f} MB (limit {LIMIT_MB})")
    return int(worst > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main())
