import signal
import threading

import pytest

from floorbench.run.signals import RunInterrupted, Signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_at_once(number: int) -> None:
    with Signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_a_signal_waits_for_the_end_of_a_write() -> None:
    done = []
    with Signals() as signals:

        def write() -> None:
            with signals.held():
                signal.raise_signal(signal.SIGINT)
                done.append("written")

        with pytest.raises(KeyboardInterrupt):
            write()
        assert done == ["written"]


def test_an_error_of_the_write_comes_before_the_signal() -> None:
    with Signals() as signals:

        def write() -> None:
            with signals.held():
                signal.raise_signal(signal.SIGINT)
                raise OSError("full")

        with pytest.raises(OSError, match="full"):
            write()


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Signals():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_other_threads_leave_handlers_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def inside() -> None:
        with Signals() as signals, signals.held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [before]


def test_being_interrupted_has_the_shells_exit_code() -> None:
    assert RunInterrupted("FB507", "stopped").exit_code == 130
