"""Ctrl-C and SIGTERM for a program whose main thread waits.

Python calls a handler between two of its own steps: one for a signal that comes just before a wait begins would be called when that is over,
which may be never. So the signals are written into a socket, at once and whatever the main thread does, and a thread reads them from there.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def handled(stop: Callable[[], None]) -> Iterator[None]:
    """Within it, each of these signals calls `stop`, in another thread."""
    receiving, sending = socket.socketpair()
    with receiving, sending:
        sending.setblocking(False)
        former_socket = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
        former_handlers = [signal.signal(number, _handled_by_the_thread) for number in STOP_SIGNALS]
        receiver = threading.Thread(target=_receive, args=(receiving, stop), name="signals", daemon=True)
        receiver.start()
        try:
            yield
        finally:
            for number, handler in zip(STOP_SIGNALS, former_handlers, strict=True):
                signal.signal(number, handler)
            signal.set_wakeup_fd(former_socket)
            sending.shutdown(socket.SHUT_WR)
            receiver.join()


def _handled_by_the_thread(_number: int, _frame: FrameType | None) -> None:
    """Without a handler of Python's, the signal would not be written."""


def _receive(receiving: socket.socket, stop: Callable[[], None]) -> None:
    while receiving.recv(1):
        stop()
