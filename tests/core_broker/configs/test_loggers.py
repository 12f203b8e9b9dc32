"""Levels of loggers, in Kafka's words."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.configs import loggers

NAME = "core_broker.configs.test_logger"


@pytest.fixture(autouse=True)
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger(NAME)
    yield logger
    logger.setLevel(logging.NOTSET)


def test_a_level_can_be_set_and_taken_back(logger: logging.Logger) -> None:
    before = loggers.levels()[NAME]
    loggers.set_level(NAME, "FATAL")
    assert (logger.level, loggers.levels()[NAME]) == (logging.CRITICAL, "FATAL")
    loggers.set_level(NAME, None)
    assert loggers.levels()[NAME] == before


def test_the_most_talkative_level_of_kafka_is_the_most_talkative_here(logger: logging.Logger) -> None:
    loggers.set_level(NAME, "TRACE")
    assert (logger.level, loggers.levels()[NAME]) == (logging.DEBUG, "DEBUG")


def test_only_own_loggers_and_the_root_are_listed() -> None:
    logging.getLogger("somebody.else")
    names = loggers.levels()
    assert NAME in names
    assert loggers.ROOT in names
    assert "somebody.else" not in names


@pytest.mark.parametrize(
    ("name", "level", "code"),
    [
        ("no.such.logger", "INFO", ErrorCode.INVALID_CONFIG),
        (NAME, "LOUD", ErrorCode.INVALID_CONFIG),
        (loggers.ROOT, None, ErrorCode.INVALID_REQUEST),
    ],
)
def test_levels_that_cannot_be_set(name: str, level: str | None, code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as caught:
        loggers.check_level(name, level)
    assert caught.value.code is code
