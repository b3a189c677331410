"""``floorbench listen STIMULI``, and ``listen onsets|export|forget``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from floorbench.cli import console
from floorbench.cli.page import OpenBrowser, need_web, serve
from floorbench.core.words import counted
from floorbench.errors import DataError

ROOT = Path("listening")

app = App(name="listen", help="Let people hear stimuli and respond; find, export, forget responses")


@app.default
def listen(
    stimuli: Path,
    /,
    *,
    mode: Literal["voice", "key"] = "voice",
    session: Path | None = None,
    consent: Path | None = None,
    seed: int = 0,
    port: int = 0,
    open_browser: OpenBrowser = False,
) -> int:
    """Serve the page on which participants hear a list and respond, one after the other.

    The page is served to this machine only, at an address with a random token. Everything is kept
    as it comes in; a participant whose page was closed goes on with the same id. Ends with Ctrl-C.

    Parameters
    ----------
    stimuli
        Folder of a set with audio and lists.
    mode
        How participants respond.
    session
        Folder that everything is kept in; listening/NAME by default.
    consent
        Text that participants agree to; a general one by default.
    seed
        Seed of the lots that assign lists.
    port
        Port; any free one by default.
    """
    need_web()
    from floorbench import codec
    from floorbench.run.store import held
    from floorbench.web.listen import ListeningRoom

    folder = session if session is not None else ROOT / stimuli.resolve().name
    text = None if consent is None else codec.read_bytes(consent).decode("utf-8", "replace")
    with held(folder):
        room = ListeningRoom(stimuli, folder, mode=mode, consent=text, seed=seed)
        kept = f"kept in {folder}; {counted(len(room.session.people()), 'participant')} so far"
        serve(room.app(), token=room.token, port=port, open_browser=open_browser, remarks=[kept])
    return 0


@app.command
def onsets(
    session: Path,
    /,
    *,
    stimuli: Path,
    vad: Literal["silero", "webrtc"] = "silero",
    again: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Find where spoken responses begin, and write them as TextGrids to be corrected.

    Parameters
    ----------
    session
        Folder of a session.
    stimuli
        Folder of the set that was heard.
    vad
        Voice activity detector.
    again
        Replace TextGrids that are there, corrections included.
    """
    from floorbench.audio.vad import vad as detector
    from floorbench.web.listen_onsets import find
    from floorbench.web.listen_store import Session

    kept = Session(session)
    found = find(kept, kept.stimuli(stimuli), detector=detector(vad), again=again)
    console.say(f"{counted(found.responses, 'response')} in {counted(found.written, 'recording')}")
    if found.kept:
        console.say(f"{found.kept} TextGrids were there and are kept (--again replaces them)")
    console.data(str(session / "participants"))
    return 0


@app.command
def export(
    session: Path,
    /,
    *,
    stimuli: Path,
    exclude: Annotated[list[str] | None, Parameter(negative=())] = None,
) -> int:
    """Write stimuli, roster and responses as a labelled set, ready for `floorbench run trp`.

    Parameters
    ----------
    session
        Folder of a session.
    stimuli
        Folder of the set that was heard.
    exclude
        Labels that are no responses; breath, laughter, cough and noise by default.
    """
    from floorbench.web import listen_export
    from floorbench.web.listen_onsets import NO_RESPONSE
    from floorbench.web.listen_store import Session

    made = listen_export.export(
        Session(session), stimuli, exclude=NO_RESPONSE if exclude is None else exclude
    )
    console.say(
        f"{counted(made.participants, 'participant')}, {counted(made.turns, 'turn')} "
        f"heard, {counted(made.responses, 'response')}"
    )
    if made.taken_out:
        console.say(
            f"{counted(made.taken_out, 'interval was no response', 'intervals were no responses')}"
        )
    for people, what in (
        (made.uncalibrated, "latency unknown, times not corrected"),
        (made.unsteady, "latency test was uneven"),
    ):
        if people:
            console.say(f"{what}: {', '.join(people)}")
    console.data(str(made.path))
    return 0


@app.command
def forget(participant: str, /, *, session: Path | None = None) -> int:
    """Delete everything of one participant: recordings, responses, roster entry.

    Everything of the others stays as it is, byte for byte.

    Parameters
    ----------
    participant
        The id.
    session
        Folder of the session; by default every session in ./listening.
    """
    from floorbench.web import listen_export
    from floorbench.web.ids import checked_id
    from floorbench.web.listen_store import SESSION, Session

    checked_id(participant)
    folders = (
        [session] if session is not None else sorted(p.parent for p in ROOT.glob(f"*/{SESSION}"))
    )
    found = [f for f in folders if listen_export.forget(Session(f), participant)]
    if not found:
        looked = ", ".join(map(str, folders)) or f"no session in ./{ROOT}"
        raise DataError(
            "FB843",
            f"nothing is kept of '{participant}'",
            hint=f"looked in: {looked}; name another with --session",
        )
    for folder in found:
        console.data(f"{folder}: everything of {participant} is deleted")
    return 0
