"""The log of a service: one line for each event on standard error, as text or as JSON, in UTC."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import TextIO

LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")

_LEVEL_WIDTH = 7


class TextFormatter(logging.Formatter):
    """`2026-01-31T10:20:30.405Z INFO    core_broker.server: listening`, a traceback on the lines below."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_timestamp(record.created)} {record.levelname:<{_LEVEL_WIDTH}} {record.name}: {record.getMessage()}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object for each event: time, level, logger, message, and the traceback as `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        event = {
            "time": _timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False)


def configure(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send the events of the whole process from `level` on to `stream` (standard error)."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    # What no format shows need not be collected for each event.
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False
    root = logging.getLogger()
    for former in list(root.handlers):
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(level.upper())


def _timestamp(seconds: float) -> str:
    # Rounded once: 0.9996 s must carry into the second and not read as 1000 ms.
    milliseconds = round(seconds * 1000)
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{whole}.{milliseconds % 1000:03d}Z"
