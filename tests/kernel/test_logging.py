from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from barnabas.kernel.logging import JsonFormatter, TextFormatter, configure


@pytest.fixture(autouse=True)
def former_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    switches = (logging.logThreads, logging.logProcesses, logging.logMultiprocessing)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.logThreads, logging.logProcesses, logging.logMultiprocessing = switches


def record(created: float = 0.0) -> logging.LogRecord:
    made = logging.LogRecord("core_broker.server", logging.INFO, "server.py", 1, "took %d bytes", (7,), None)
    made.created = created
    return made


@pytest.mark.parametrize(
    ("created", "text"),
    [(0.0, "1970-01-01T00:00:00.000Z"), (1.25, "1970-01-01T00:00:01.250Z"), (0.9996, "1970-01-01T00:00:01.000Z")],
)
def test_a_line_of_text_has_time_level_logger_and_message(created: float, text: str) -> None:
    assert TextFormatter().format(record(created)) == f"{text} INFO    core_broker.server: took 7 bytes"


def test_a_json_line_has_the_same_fields() -> None:
    assert json.loads(JsonFormatter().format(record())) == {
        "time": "1970-01-01T00:00:00.000Z",
        "level": "info",
        "logger": "core_broker.server",
        "message": "took 7 bytes",
    }


def events(form: str, level: str) -> str:
    stream = io.StringIO()
    configure(level, form, stream)
    log = logging.getLogger("barnabas.example")
    log.debug("small")
    log.warning("line one\nline two")
    try:
        raise ValueError("bad input")
    except ValueError:
        log.exception("it failed")
    return stream.getvalue()


def test_json_keeps_each_event_on_one_line_with_its_traceback() -> None:
    lines = [json.loads(line) for line in events("json", "info").splitlines()]
    assert [line["message"] for line in lines] == ["line one\nline two", "it failed"]
    assert lines[1]["exception"].endswith("ValueError: bad input")


def test_text_puts_the_traceback_below_its_line() -> None:
    text = events("text", "info")
    assert re.search(r"ERROR   barnabas\.example: it failed\nTraceback .*ValueError: bad input\n$", text, re.DOTALL)


def test_the_level_decides_what_is_logged() -> None:
    assert "small" in events("text", "debug")
    assert "small" not in events("text", "info")
    assert "line one" not in events("text", "error")


def test_to_configure_again_replaces_the_former_log() -> None:
    first = io.StringIO()
    configure("info", "text", first)
    second = io.StringIO()
    configure("info", "text", second)
    logging.getLogger("barnabas.example").info("once")
    assert first.getvalue() == ""
    assert second.getvalue().count("once") == 1
