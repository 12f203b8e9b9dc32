"""The processes that a SQL server has started: the driver, Java, and Python's workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.process_tree import descendants, is_alive
from tests.waiting import wait_for

START_DEADLINE_S = 180.0
END_DEADLINE_S = 90.0


class SparkProcesses:
    """Below one server, as they are now."""

    def __init__(self, server: int) -> None:
        self._server = server

    def driver(self) -> int:
        return wait_for(
            lambda: self._find("python", "streams_sql.spark.driver.main"), "the driver process", START_DEADLINE_S
        )

    def java(self) -> int:
        return wait_for(lambda: self._find("java", ""), "Java", START_DEADLINE_S)

    def all(self) -> set[int]:
        return descendants(self._server)

    def _find(self, name: str, word: str) -> int | None:
        found = [pid for pid in self.all() if _name(pid).startswith(name) and word in _command(pid)]
        return min(found, default=None)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def wait_until_gone(pids: set[int], deadline_s: float = END_DEADLINE_S) -> None:
    """Nothing of what was there may live on."""

    def left() -> list[str]:
        return [f"{pid} {_command(pid)}" for pid in pids if is_alive(pid)]

    wait_for(lambda: not left(), f"processes to end: {left()}", deadline_s)


def _name(pid: int) -> str:
    return Path(_read(pid, "cmdline").split("\0")[0]).name


def _command(pid: int) -> str:
    return _read(pid, "cmdline").replace("\0", " ")


def _read(pid: int, file: str) -> str:
    try:
        return (Path("/proc") / str(pid) / file).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
