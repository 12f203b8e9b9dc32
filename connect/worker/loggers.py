"""The levels of loggers, in Java's words, as the REST API has them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from connect.cluster.failures import NotFound
from connect.tasks.messages import SetLogLevel

ROOT: Final = "root"
MS_PER_S: Final = 1000
_OFF: Final = logging.CRITICAL + 10

_LEVELS: Final[Mapping[str, int]] = {
    "OFF": _OFF,
    "FATAL": logging.CRITICAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": logging.DEBUG // 2,
    "ALL": 1,
}
_WORDS: Final[Mapping[int, str]] = {number: word for word, number in _LEVELS.items()}


@dataclass(frozen=True, slots=True)
class LoggerLevel:
    """A level in Java's words (`INFO`, `WARN`), and when it was last changed, in ms since 1970; None: never."""

    level: str
    last_modified: int | None


class Loggers:
    """The loggers of this process. Listeners receive each change; `changes` are those that a new task starts with."""

    def __init__(self) -> None:
        self._changed_ms: dict[str, int] = {}
        self._changes: dict[str, SetLogLevel] = {}
        self._listeners: list[Callable[[SetLogLevel], None]] = []

    @property
    def changes(self) -> Sequence[SetLogLevel]:
        return list(self._changes.values())

    def listen(self, listener: Callable[[SetLogLevel], None]) -> None:
        self._listeners.append(listener)

    def all(self) -> dict[str, LoggerLevel]:
        """Those that have a level of their own, and the root."""
        names = [ROOT, *(name for name, logger in _existing().items() if logger.level != logging.NOTSET)]
        return {name: self.one(name) for name in sorted(names)}

    def one(self, name: str) -> LoggerLevel:
        logger = logging.getLogger() if name.lower() == ROOT else _existing().get(name)
        if logger is None:
            raise NotFound(f"Logger {name} not found.")
        return LoggerLevel(_word(logger.getEffectiveLevel()), self._changed_ms.get(name))

    def set(self, namespace: str, level: str) -> list[str]:
        """Set the level of a namespace; returns its loggers that had another, sorted. NotFound for a level that there is not."""
        number = level_number(level)
        is_root = namespace.lower() == ROOT
        own = logging.getLogger(None if is_root else namespace)
        affected = {ROOT if is_root else namespace: own}
        affected |= {name: each for name, each in _existing().items() if is_root or name.startswith(f"{namespace}.")}
        changed = [name for name, logger in affected.items() if logger.getEffectiveLevel() != number]
        self._changed_ms |= dict.fromkeys(changed, int(time.time() * MS_PER_S))
        for logger in affected.values():
            logger.setLevel(number)
        name = ROOT if is_root else namespace
        python_level = min(max(number, logging.DEBUG), logging.CRITICAL)
        self._changes[name] = change = SetLogLevel(name, logging.getLevelName(python_level))
        for listener in self._listeners:
            listener(change)
        return sorted(changed)


def level_number(level: str) -> int:
    try:
        return _LEVELS[level.upper()]
    except KeyError:
        raise NotFound(f"invalid log level '{level}'; expected one of {', '.join(_LEVELS)}") from None


def _existing() -> dict[str, logging.Logger]:
    found = logging.root.manager.loggerDict
    return {name: logger for name, logger in list(found.items()) if isinstance(logger, logging.Logger)}


def _word(number: int) -> str:
    return _WORDS.get(number, logging.getLevelName(number))
