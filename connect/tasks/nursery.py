"""Loaded into the process that tasks are forked from, and into no other: it lives for as long as its worker.

Whoever ends a service may send SIGTERM to all of its processes at once. The worker then stops its tasks one by one, and needs this one
to hear how they ended; it goes by itself when the worker has gone.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)
