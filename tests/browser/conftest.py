"""Pages in a real browser: what goes wrong in them fails the test, screenshots are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from floorbench.report.stored import StoredRun
from floorbench.web.live import LiveRuns
from floorbench.web.server import Viewer
from floorbench.web.serving import Serving
from floorbench.web.sound import WaveCache

WATCH_SOUND = """
window.sounds = [];
window.Audio = class extends Audio {
  constructor(...given) { super(...given); window.sounds.push(this); }
};
"""
Opener = Callable[..., Any]


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the screenshots: FLOORBENCH_SCREENSHOTS, else a temporary one."""
    given = os.environ.get("FLOORBENCH_SCREENSHOTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def open_page(browser: Any, serve: Callable[..., str]) -> Iterator[Opener]:
    """Open pages; at the end no page may have had an error or talked to another host."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            wrong.append(f"console: {message.text}")

    def asked(request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "file://", "data:", "blob:")):
            wrong.append(f"asked for {request.url}")

    def opened(address: str, *, scheme: str = "light", width: int = 1280, height: int = 860) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        context.add_init_script(WATCH_SOUND)
        page = context.new_page()
        page.on("pageerror", lambda e: wrong.append(f"error in the page: {e}"))
        page.on("console", said)
        page.on("request", asked)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Serve run folders; gives the address with its token."""
    running: list[Serving] = []

    def served(paths: list[Path], read: Callable[[Path], StoredRun]) -> str:
        viewer = Viewer(LiveRuns(paths, read), waves=WaveCache(tmp_path / "waves"))
        serving = Serving(viewer.app())
        serving.__enter__()
        running.append(serving)
        return f"{serving.address}?token={viewer.token}"

    yield served
    for serving in running:
        serving.stop()


@pytest.fixture
def accessible() -> Callable[[Any], None]:
    """Check a page with axe-core; every violation is named."""
    from axe_playwright_python.sync_playwright import Axe

    def checked(page: Any) -> None:
        found = Axe().run(page).response["violations"]
        assert not [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found]

    return checked
