"""What is disturbed: a run, a score, a report, a build; and what must be true of it afterwards."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import soundfile

from floorbench import codec
from floorbench.build.pipeline.export import UNLISTED
from floorbench.build.pipeline.store import Folder
from floorbench.core.prediction import Prediction
from floorbench.errors import FloorbenchError
from floorbench.run.store import RunFolder
from torture import toys
from torture.child import command

TOYS = str(Path(toys.__file__).resolve())


class Work:
    """One kind of command on folders of its own.

    Parameters
    ----------
    name : str
    shared : Path
        What all attempts may read: data, a finished run.
    flying : int
        How many items may be under way at once, so may be done again after a kill.
    """

    name = ""
    flying = 0

    def __init__(self, shared: Path) -> None:
        self.shared = shared

    def prepare(self, home: Path) -> None:
        """Put what the command needs into a new folder."""

    def first(self, home: Path) -> list[str]:
        """Return the command."""
        raise NotImplementedError

    def resumed(self, home: Path) -> list[str]:
        """Return the command that goes on; the same one where that is how it is done."""
        return self.first(home)

    def outcome(self, home: Path) -> dict[str, str]:
        """Return what a finished command leaves, as digests by name; raises when it is broken."""
        raise NotImplementedError

    def broken(self, home: Path) -> list[str]:
        """Return what is wrong with what lies there now; a disturbed command may leave less, but
        nothing half under a final name."""
        raise NotImplementedError

    def items(self, home: Path) -> int | None:
        """Return how many items the log says were asked for in all, ``None`` without a log."""
        log = home / "log"
        return len(log.read_text().splitlines()) if log.exists() else None

    def reference(self) -> dict[str, str]:
        """Run it undisturbed and return its outcome."""
        home = self.shared / f"reference-{self.name}"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        self.prepare(home)
        ended = command(self.first(home), home=home, faults={"TORTURE_LOG": str(home / "log")})
        if ended.status != 0:
            raise RuntimeError(f"{self.name} fails undisturbed: {ended.err[-2000:]}")
        self.asked = self.items(home) or 0
        self.seconds = ended.seconds
        return self.outcome(home)


class Run(Work):
    """``floorbench run`` with one of the executors, scoring included."""

    def __init__(self, shared: Path, executor: str, workers: int = 1) -> None:
        super().__init__(shared)
        self.name = f"run-{executor}"
        self.executor, self.workers = executor, workers
        self.flying = workers
        self.data = shared / "data"
        if not self.data.is_dir():
            toys.clips(self.data)

    def first(self, home: Path) -> list[str]:
        return [
            *("run", "clips", f"{TOYS}:Level", "--data", str(self.data)),
            *("--out", str(home / "runs")),
            *(("--executor", self.executor) if self.executor != "serial" else ()),
            *(("--workers", str(self.workers)) if self.workers != 1 else ()),
        ]

    def resumed(self, home: Path) -> list[str]:
        folders = self.folders(home)
        return self.first(home) + (["--resume", str(folders[-1])] if folders else [])

    def folders(self, home: Path) -> list[Path]:
        """Return the run folders that hold a record, oldest first."""
        return sorted(p.parent for p in (home / "runs").glob("*/*/*/run.json"))

    def outcome(self, home: Path) -> dict[str, str]:
        folder = RunFolder.open(self.folders(home)[-1])
        record = folder.record()
        if record.status != "complete":
            raise ValueError(f"the run says '{record.status}'")
        if folder.torn():
            raise ValueError("the journal's last line is torn")
        lines = list(folder.predictions())
        twice = [k for k, n in Counter(p.key for p in lines).items() if n > 1]
        if twice:
            raise ValueError(f"{twice[0]} stands twice in the journal")
        found = {f"prediction {p.key}": _said(p) for p in lines}
        found["estimates"] = _digest(folder.path / "estimates.json")
        return found

    def broken(self, home: Path) -> list[str]:
        out = []
        for path in (home / "runs").glob("*/*/*/*.json"):
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                out.append(f"{path.name} is half written: {error}")
        for folder in self.folders(home):
            try:
                opened = RunFolder.open(folder)
                keys = [p.key for p in opened.predictions()]
            except FloorbenchError as error:
                out.append(f"does not open: {error}")
                continue
            if len(set(keys)) != len(keys):
                out.append("a sample stands twice in the journal")
        return out


class Score(Run):
    """``floorbench score`` on a finished run."""

    def __init__(self, shared: Path) -> None:
        super().__init__(shared, "serial")
        self.name, self.flying = "score", 0

    def prepare(self, home: Path) -> None:
        made = self.shared / "scored"
        if not made.is_dir():
            ended = command([*super().first(made), "--no-score"], home=made)
            if ended.status:
                raise RuntimeError(ended.err)
        shutil.copytree(made / "runs", home / "runs")

    def first(self, home: Path) -> list[str]:
        return ["score", str(self.folders(home)[-1])]

    def resumed(self, home: Path) -> list[str]:
        return self.first(home)


class Report(Score):
    """``floorbench report`` on a finished and scored run."""

    def __init__(self, shared: Path) -> None:
        super().__init__(shared)
        self.name = "report"

    def first(self, home: Path) -> list[str]:
        return ["report", str(self.folders(home)[-1]), "--out", str(home / "page.html")]

    def outcome(self, home: Path) -> dict[str, str]:
        page = (home / "page.html").read_text("utf-8")
        if not page.rstrip().endswith("</html>"):
            raise ValueError("the page is cut off")
        return {"page": hashlib.sha256(page.replace(str(home), "HOME").encode()).hexdigest()}

    def broken(self, home: Path) -> list[str]:
        out = super().broken(home)
        page = home / "page.html"
        if page.exists() and not page.read_text("utf-8", "replace").rstrip().endswith("</html>"):
            out.append("the page is half written")
        return out


class Build(Work):
    """``floorbench build`` of a recipe with sound in its stages."""

    def __init__(self, shared: Path, workers: int = 1) -> None:
        super().__init__(shared)
        self.name = f"build-{workers}"
        self.workers = self.flying = workers

    def first(self, home: Path) -> list[str]:
        return [
            *("build", f"{TOYS}:Recipe", "--out", str(home / "set")),
            *("--cache", str(home / "cache"), "--workers", str(self.workers)),
        ]

    def outcome(self, home: Path) -> dict[str, str]:
        problems = self.broken(home)
        left = [p.name for p in home.glob(".set.*") if p.name != ".set.lock"]
        # A worker of the killed build may have lived on until now; the next build sweeps after it.
        Folder(home / "cache").sweep()
        left += [p.name for p in (home / "cache" / "unfinished").glob("*")]
        if problems or left:
            raise ValueError("; ".join(problems) or f"left behind: {', '.join(left)}")
        return {
            p.relative_to(home).as_posix(): _digest(p)
            for p in sorted((home / "set").rglob("*"))
            if p.is_file() and p.relative_to(home / "set").as_posix() not in (*UNLISTED,)
            # The lineage tells of every call; it is the same but for nothing.
        }

    def broken(self, home: Path) -> list[str]:
        out = []
        if (home / "set").exists():
            if not (home / "set" / "checksums.txt").is_file():
                return ["the dataset has its name but no checksums"]
            for line in (home / "set" / "checksums.txt").read_text().splitlines():
                digest, name = line.split("  ", 1)
                if not (home / "set" / name).is_file() or _digest(home / "set" / name) != digest:
                    out.append(f"{name} is not what its checksum says")
        for path in (home / "cache").glob("results/*/*.jsonl"):
            seal, _, body = path.read_bytes().partition(b"\n")
            body = body.removesuffix(b"\n")
            if seal != codec.encode({"sha256": hashlib.sha256(body).hexdigest()}):
                out.append(f"result {path.name} is half written")
        for path in (home / "cache").glob("sounds/*/*.flac"):
            try:
                soundfile.read(path)
            except soundfile.LibsndfileError as error:
                out.append(f"sound {path.name} is half written: {error}")
        return out


def everything(shared: Path) -> list[Work]:
    """Return every work, the heaviest last."""
    return [
        Run(shared, "serial"),
        Run(shared, "thread", 2),
        Run(shared, "process", 2),
        Score(shared),
        Build(shared, 1),
        Build(shared, 2),
        Report(shared),
    ]


def named(shared: Path, names: Sequence[str]) -> list[Work]:
    """Return the works of these names."""
    return [w for w in everything(shared) if w.name in names]


def _said(prediction: Prediction) -> str:
    return codec.digest([prediction.decision, prediction.observed])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
