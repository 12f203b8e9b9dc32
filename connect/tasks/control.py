"""What the worker wants of a task, as its process hears it."""

from __future__ import annotations

import logging
import os
import threading
from time import monotonic
from types import FrameType
from typing import Final

from connect.tasks.frames import Channel
from connect.tasks.messages import Pause, Resume, SetLogLevel, Stop

AGAIN_S: Final = 0.02
"""How soon a SIGTERM comes again that came at the wrong moment."""

logger = logging.getLogger(__name__)

ORPHAN_STATUS: Final = 3
"""The exit status of a process whose worker has gone."""


class TaskStop(Exception):
    """The worker wants the task to end: whatever waits gives up."""


class Control:
    """A thread listens to the worker; the task looks at what it wants between two batches."""

    def __init__(self, channel: Channel, *, starts_paused: bool) -> None:
        self.wants_stop = False
        self.wants_pause = starts_paused
        self._channel = channel
        self._changed = threading.Condition()
        threading.Thread(target=self._listen, name="control", daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Sleep, until the worker wants a stop or something changes between pause and work. TaskStop if it wants the stop."""
        with self._changed:
            was_paused = self.wants_pause
            deadline = monotonic() + seconds
            while not self.wants_stop and self.wants_pause == was_paused and (left := deadline - monotonic()) > 0:
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
        self.check()

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM: the same as the worker's request to stop; if that was known, break off whatever the task does now. TaskStop."""
        if self.wants_stop and _writes_log(frame):
            # Logging would take it for a failure of its own, and the task go on; a log record takes a moment only.
            again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
            again.daemon = True
            again.start()
            return
        self.check()
        self._obey(Stop())

    def check(self) -> None:
        """TaskStopping if the worker wants the task to end."""
        if self.wants_stop:
            raise TaskStop

    def _listen(self) -> None:
        while True:
            try:
                message = self._channel.receive()
            except (EOFError, ConnectionError):
                # The worker has died, and another one starts this task anew. Nothing more may be committed here.
                os._exit(ORPHAN_STATUS)
            self._obey(message)

    def _obey(self, message: object) -> None:
        if isinstance(message, SetLogLevel):
            logging.getLogger(None if message.logger == "root" else message.logger).setLevel(message.level.upper())
            return
        with self._changed:
            if isinstance(message, Stop):
                self.wants_stop = True
            elif isinstance(message, Pause):
                self.wants_pause = True
            elif isinstance(message, Resume):
                self.wants_pause = False
            self._changed.notify_all()


def _writes_log(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == logging.__file__:
            return True
        frame = frame.f_back
    return False
