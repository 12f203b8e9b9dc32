"""Loaded into the process that tasks are forked from, and into no other: it lives for as long as its worker.

Whoever ends a service may send SIGTERM to all of its processes at once, as a terminal does with SIGINT. The worker then stops its tasks
one by one, and needs this one to hear how they ended; it goes by itself when the worker has gone. Until this is loaded, last of all, the
signals are blocked (`host`), so that they do not end what is still starting.
"""

from __future__ import annotations

import signal
from typing import Final

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

for _number in STOP_SIGNALS:
    signal.signal(_number, signal.SIG_IGN)
# Tasks, which are forked from here, hear them again as soon as they say what to do then.
signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
