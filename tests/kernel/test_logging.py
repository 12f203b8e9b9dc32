from __future__ import annotations

import io
import json
import logging
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from contextvars import copy_context

import pytest

from barnabas.kernel import current_request
from barnabas.kernel.logging import (
    JsonFormatter,
    LogForm,
    TextFormatter,
    as_event,
    configure,
    configured,
    fields,
    printed,
)


@pytest.fixture(autouse=True)
def former_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    switches = (logging.logThreads, logging.logProcesses, logging.logMultiprocessing)
    hooks, former = (sys.excepthook, threading.excepthook), configured()
    yield
    configure(former)
    logging.captureWarnings(capture=False)
    sys.excepthook, threading.excepthook = hooks
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
    configure(LogForm(level, form), stream)
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
    configure(LogForm(), first)
    second = io.StringIO()
    configure(LogForm(), second)
    logging.getLogger("barnabas.example").info("once")
    assert first.getvalue() == ""
    assert second.getvalue().count("once") == 1


def json_events(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_json_line_names_its_service_where_it_comes_from_and_what_the_event_tells_beside() -> None:
    stream = io.StringIO()
    configure(LogForm(form="json", service="connect", origin={"connector": "c", "task": 3}), stream)
    logging.getLogger("connect.x").warning("%d records", 2, extra=fields(records=2, place=b"raw"))
    (line,) = json_events(stream)
    assert list(line)[:5] == ["time", "level", "service", "logger", "message"]
    assert {key: line[key] for key in ("service", "connector", "task", "records", "place")} == {
        "service": "connect",
        "connector": "c",
        "task": 3,
        "records": 2,
        "place": "b'raw'",
    }


def test_text_names_service_and_origin_where_logs_run_together() -> None:
    stream = io.StringIO()
    configure(LogForm(service="connect", among_others=True, origin={"connector": "c", "task": 3}), stream)
    logging.getLogger("connect.x").warning("so")
    assert stream.getvalue().endswith(" WARNING connect c 3 connect.x: so\n")


def test_what_is_logged_for_a_request_has_its_id_until_the_request_is_over() -> None:
    stream = io.StringIO()
    configure(LogForm(form="json"), stream)
    log = logging.getLogger("barnabas.example")

    def serve() -> None:
        request = current_request.begin("mine")
        log.info("first")
        log.info("second", extra=fields(request_id="other"))
        assert current_request.headers() == {"X-Request-ID": "mine"}
        request.end()
        log.info("third")
        assert current_request.headers() == {}

    copy_context().run(serve)
    log.info("fourth")
    assert [line.get("request_id") for line in json_events(stream)] == ["mine", "other", None, None]
    configure(LogForm(), stream)

    def serve_with_text() -> None:
        current_request.begin("mine")
        log.info("fifth")

    copy_context().run(serve_with_text)
    assert stream.getvalue().endswith("barnabas.example: fifth (request mine)\n")


def test_what_nobody_has_caught_and_what_python_warns_of_is_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    configure(LogForm(form="json"), stream)
    thread = threading.Thread(target=lambda: 1 // 0, name="divider")
    # pytest puts its own hook in between, to fail tests that leave such a thread.
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    thread.start()
    thread.join()
    try:
        raise ValueError("bad")
    except ValueError as problem:
        sys.excepthook(ValueError, problem, problem.__traceback__)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    first, second, third = json_events(stream)
    assert "the thread divider: integer division" in str(first["message"])
    assert str(first["exception"]).endswith("by zero")
    assert second["level"] == "critical"
    assert str(second["exception"]).endswith("ValueError: bad")
    assert "DeprecationWarning: old" in str(third["message"])


def test_lines_for_standard_output_are_objects_too() -> None:
    configure(LogForm(form="json", service="rest"), io.StringIO())
    assert json.loads(printed("rest listening", "serve"))["message"] == "rest listening"
    configure(LogForm(service="rest"), io.StringIO())
    assert printed("rest listening", "serve") == "rest listening"


def test_last_words_that_no_log_has_written_become_events() -> None:
    configure(LogForm(form="json"), io.StringIO())
    event = json.loads(as_event(b"Fatal Python error: Aborted\n", "sql"))
    assert (event["service"], event["level"], event["message"]) == ("sql", "warning", "Fatal Python error: Aborted")
    own = JsonFormatter("sql").format(record()).encode() + b"\n"
    assert as_event(own, "sql") == own
    configure(LogForm(), io.StringIO())
    assert as_event(b"Fatal\n", "sql") == b"Fatal\n"
