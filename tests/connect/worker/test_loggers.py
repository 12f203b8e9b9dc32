"""Levels of loggers, in Java's words."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from barnabas.kernel.kafka_clients.client_log import REPEAT_S, OneOfAKind
from connect.cluster.failures import NotFound
from connect.tasks.messages import SetLogLevel
from connect.worker.loggers import Loggers

SPACE = "tests.connect.loggers"


@pytest.fixture
def loggers() -> Iterator[Loggers]:
    names = (SPACE, f"{SPACE}.child", f"{SPACE}_apart")
    for name in names:
        logging.getLogger(name)
    yield Loggers()
    for name in names:
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_a_namespace_changes_with_its_children(loggers: Loggers) -> None:
    logging.getLogger(f"{SPACE}.child").setLevel(logging.ERROR)
    assert loggers.set(SPACE, "fatal") == [SPACE, f"{SPACE}.child"]
    assert {name: level.level for name, level in loggers.all().items() if name.startswith(SPACE)} == {
        SPACE: "FATAL",
        f"{SPACE}.child": "FATAL",
    }
    assert loggers.one(SPACE).last_modified is not None
    assert loggers.one(f"{SPACE}_apart").last_modified is None
    assert loggers.changes == [SetLogLevel(SPACE, "CRITICAL")]
    assert loggers.set(SPACE, "FATAL") == [], "none of them had another"


@pytest.mark.parametrize(
    ("level", "told"), [("TRACE", "TRACE"), ("all", "ALL"), ("FATAL", "FATAL"), ("OFF", "OFF"), ("debug", "DEBUG")]
)
def test_levels_that_python_has_no_word_for(loggers: Loggers, level: str, told: str) -> None:
    loggers.set(SPACE, level)
    assert loggers.one(SPACE).level == told


def test_of_what_a_client_says_again_and_again_one_of_a_kind_is_told() -> None:
    now_s = 0.0
    one_of_a_kind = OneOfAKind(lambda: now_s)

    def passes(message: str) -> bool:
        return one_of_a_kind.filter(logging.LogRecord("x", logging.ERROR, "", 1, message, None, None))

    assert [passes(message) for message in ("FAIL a", "FAIL b", "GETPID c", "FAIL a")] == [True, False, True, False]
    now_s += REPEAT_S
    assert passes("FAIL a")


def test_what_there_is_not(loggers: Loggers) -> None:
    with pytest.raises(NotFound, match=r"no\.such\.logger"):
        loggers.one("no.such.logger")
    with pytest.raises(NotFound, match="LOUD"):
        loggers.set(SPACE, "LOUD")
