"""The levels of the broker's own loggers, which Kafka's tools read and set as configurations of a broker. They last until a restart."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from barnabas.wire.errors import ErrorCode, KafkaError

ROOT = "root"

# Kafka's names of the levels, the most talkative first. Python has no TRACE: it is DEBUG here.
LEVELS: Mapping[str, int] = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_NAMES = {level: name for name, level in LEVELS.items() if name != "TRACE"}


def levels() -> dict[str, str]:
    """Each logger's name and the level in force for it."""
    named = {name: _NAMES.get(logging.getLogger(name).getEffectiveLevel(), "INFO") for name in sorted(_own_names())}
    return {**named, ROOT: _NAMES.get(logging.getLogger().level, "INFO")}


def check_level(name: str, level: str | None) -> None:
    """Whether a logger may get this level; None gives it that of its parent."""
    if name != ROOT and name not in _own_names():
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"there is no logger {name}; DescribeConfigs of the broker's loggers lists them"
        )
    if level is None:
        if name == ROOT:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the level of the root logger cannot be removed, only set")
    elif level not in LEVELS:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"logger {name} cannot have level {level}; the levels are {', '.join(LEVELS)}"
        )


def set_level(name: str, level: str | None) -> None:
    logging.getLogger(None if name == ROOT else name).setLevel(logging.NOTSET if level is None else LEVELS[level])


def _own_names() -> set[str]:
    return {
        name for name in logging.getLogger().manager.loggerDict if name.split(".")[0] in ("barnabas", "core_broker")
    }
