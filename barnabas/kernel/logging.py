"""The log of a service: one line for each event on standard error, as text or as JSON, in UTC."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, TextIO

from barnabas.kernel import current_request

LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")

_LEVEL_WIDTH = 7
_ATTRIBUTE: Final = "fields"

logger = logging.getLogger(__name__)


def fields(**values: object) -> dict[str, dict[str, object]]:
    """What an event tells beside its message, for programs: `logger.info("…", extra=fields(topic=…))`. The message should do without, since
    text shows them nowhere. `request_id` is there by itself while a request is served."""
    return {_ATTRIBUTE: values}


class TextFormatter(logging.Formatter):
    """`2026-01-31T10:20:30.405Z INFO    core_broker.server: listening`, a traceback on the lines below. Where logs of several services run
    together, the service stands before the logger."""

    def __init__(self, service: str | None = None, origin: Mapping[str, object] | None = None) -> None:
        super().__init__()
        places = [*([] if service is None else [service]), *map(str, (origin or {}).values())]
        self._origin = "".join(f"{place} " for place in places)

    def format(self, record: logging.LogRecord) -> str:
        line = (
            f"{_timestamp(record.created)} {record.levelname:<{_LEVEL_WIDTH}} {self._origin}{record.name}: "
            f"{record.getMessage()}"
        )
        request_id = _fields(record).get("request_id")
        if request_id is not None:
            line = f"{line} (request {request_id})"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object for each event: time, level, service, logger, message, the fields of the event, and the traceback as `exception`."""

    def __init__(self, service: str | None = None, origin: Mapping[str, object] | None = None) -> None:
        super().__init__()
        self._service = service
        self._origin = dict(origin or {})

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, object] = {"time": _timestamp(record.created), "level": record.levelname.lower()}
        if self._service is not None:
            event["service"] = self._service
        event |= {"logger": record.name, "message": record.getMessage(), **self._origin, **_fields(record)}
        if record.exc_info:
            event["exception"] = self.formatException(record.exc_info)
        return json.dumps(event, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class LogForm:
    """How the log of a process looks. `among_others`: logs of several services run together. `origin` are fields of every event."""

    level: str = "info"
    form: str = "text"
    service: str | None = None
    among_others: bool = False
    origin: Mapping[str, object] = field(default_factory=dict)

    def formatter(self) -> logging.Formatter:
        if self.form == "json":
            return JsonFormatter(self.service, self.origin)
        return TextFormatter(self.service if self.among_others else None, self.origin)


_configured = LogForm()


def configured() -> LogForm:
    """What this process was told, for those that it starts."""
    return _configured


def configure(log: LogForm, stream: TextIO | None = None) -> None:
    """Send the events of the whole process from its level on to `stream` (standard error), what nobody has caught and what Python warns of
    with them."""
    global _configured  # noqa: PLW0603 - the log is the process's own, as `logging` has it
    _configured = log
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(log.formatter())
    # What no format shows need not be collected for each event.
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False
    root = logging.getLogger()
    for former in list(root.handlers):
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(log.level.upper())
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def printed(message: str, origin: str) -> str:
    """A line for standard output: the message as it is, or the object that a JSON log has for it."""
    if _configured.form != "json":
        return message
    return _configured.formatter().format(logging.LogRecord(origin, logging.INFO, "", 0, "%s", (message,), None))


def as_event(line: bytes, service: str) -> bytes:
    """A line that a service has written on its standard error. Not all of them come from its log: where that is JSON, the last words of an
    interpreter or of a library become events, too."""
    if _configured.form != "json" or line.startswith(b'{"time": ') or not line.strip():
        return line
    record = logging.LogRecord("stderr", logging.WARNING, "", 0, "%s", (line.decode(errors="replace").rstrip(),), None)
    return JsonFormatter(service).format(record).encode() + b"\n"


def _log_uncaught(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, problem, trace)
        return
    logger.critical("an error that nobody has caught ends the process: %s", problem, exc_info=(kind, problem, trace))


def _log_uncaught_in_thread(hooked: threading.ExceptHookArgs) -> None:
    if hooked.exc_value is None or issubclass(hooked.exc_type, SystemExit):
        return
    name = "unknown" if hooked.thread is None else hooked.thread.name
    info = (hooked.exc_type, hooked.exc_value, hooked.exc_traceback)
    logger.critical("an error that nobody has caught ends the thread %s: %s", name, hooked.exc_value, exc_info=info)


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    """Those of the event, and the id of the request that is being served unless the event names one."""
    own: Mapping[str, Any] = getattr(record, _ATTRIBUTE, None) or {}
    if "request_id" in own:
        return own
    request_id = current_request.request_id()
    return own if request_id is None else {"request_id": request_id, **own}


def _timestamp(seconds: float) -> str:
    # Rounded once: 0.9996 s must carry into the second and not read as 1000 ms.
    milliseconds = round(seconds * 1000)
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000))
    return f"{whole}.{milliseconds % 1000:03d}Z"
