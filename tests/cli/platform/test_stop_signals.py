"""Signals that stop a program which waits."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue

import pytest

from barnabas.cli.platform.stop_signals import STOP_SIGNALS, handled

DEADLINE_S = 60


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_is_heeded_whatever_the_main_thread_does(number: signal.Signals) -> None:
    former = [signal.getsignal(one) for one in STOP_SIGNALS]
    heard: SimpleQueue[int] = SimpleQueue()

    def tell() -> None:
        # It does not break off the wait of the main thread, as one does not that comes just before the wait.
        signal.pthread_kill(threading.get_ident(), number)

    with handled(lambda: heard.put(1)):
        for _ in range(2):
            threading.Thread(target=tell, daemon=True).start()
            assert heard.get(timeout=DEADLINE_S) == 1
    assert [signal.getsignal(one) for one in STOP_SIGNALS] == former
    assert heard.empty()
