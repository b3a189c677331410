"""Take the pictures of the README: the viewer on a run of the ECHO starter set, in Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from floorbench.catalog import TASKS
from floorbench.datasets.open import open_dataset
from floorbench.report.stored import Sources, load
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.web.live import LiveRuns
from floorbench.web.server import Viewer
from floorbench.web.serving import Serving
from floorbench.web.sound import WaveCache

FOLDER = Path(__file__).parent / "pictures"
PAGES = {
    "tables.png": ("#/tables", 640),
    "item.png": ("#/item?run=0&at=11&sample=en-ib-06-b", 800),
}


def main() -> None:
    """Run, serve, and take a picture of each page."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = run(
            task=TASKS.load("echo")(),
            system=SystemChoice(name="barge-in-silero"),
            source=open_dataset("starter:echo"),
            out=Path(made),
        )
        score(open_predictions(folder.path))
        viewer = Viewer(
            LiveRuns([folder.path], lambda path: load(path, Sources())),
            waves=WaveCache(Path(made) / "waves"),
        )
        with Serving(viewer.app()) as serving, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
            for name, (place, height) in PAGES.items():
                page = browser.new_page(viewport={"width": 1180, "height": height})
                page.goto(f"{serving.address}?token={viewer.token}")
                page.wait_for_load_state("networkidle")
                page.goto(f"{serving.address}{place}")
                page.wait_for_load_state("networkidle")
                page.wait_for_timeout(1000)  # waves are drawn after they have come
                page.screenshot(path=FOLDER / name)
            browser.close()


if __name__ == "__main__":
    main()
