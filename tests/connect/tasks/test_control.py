"""What a task hears of its worker's wishes."""

from __future__ import annotations

import io
import logging
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from connect.tasks.control import Control, TaskStop
from connect.tasks.frames import Channel

DEADLINE_S = 60


class InterruptedStream(io.StringIO):
    """SIGTERM comes while a record is written to it."""

    def write(self, text: str) -> int:
        signal.raise_signal(signal.SIGTERM)
        return super().write(text)


@pytest.fixture
def control() -> Iterator[Control]:
    ours, theirs = socket.socketpair()
    former = signal.getsignal(signal.SIGTERM)
    control = Control(Channel(theirs), starts_paused=False)
    signal.signal(signal.SIGTERM, control.terminate)
    yield control
    signal.signal(signal.SIGTERM, former)
    # The worker's end stays open: a task whose worker has gone ends its process.
    ours.detach()


def test_a_stop_that_comes_while_a_log_record_is_written_waits_for_its_end(
    control: Control, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = InterruptedStream()
    handler = logging.StreamHandler(stream)
    control.wants_stop = True
    handler.handle(logging.makeLogRecord({"msg": "a record"}))
    assert stream.getvalue() == "a record\n"
    with pytest.raises(TaskStop):
        threading.Event().wait(DEADLINE_S)
    assert capsys.readouterr().err == ""
