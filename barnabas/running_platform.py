"""The platform that runs on a data directory, for commands that look at it: a file in that folder, as long as it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

RUN_FILE: Final = "running.json"


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What is known of a service from outside."""

    name: str
    pid: int | None
    addresses: tuple[str, ...]
    restarts: int


@dataclass(frozen=True, slots=True)
class RunningPlatform:
    """`pid` is that of the supervisor; `started_s` in seconds since 1970."""

    pid: int
    started_s: float
    services: tuple[ServiceState, ...]

    @property
    def is_alive(self) -> bool:
        """A file may be left over when a supervisor was killed."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def save(self, folder: Path) -> None:
        # Renamed into place: who reads it sees a whole file.
        arriving = folder / f".{RUN_FILE}.{self.pid}"
        arriving.write_text(json.dumps(asdict(self), indent=1) + "\n")
        arriving.replace(folder / RUN_FILE)

    @classmethod
    def find(cls, folder: Path) -> RunningPlatform | None:
        """The platform that runs there, if one does."""
        try:
            told = json.loads((folder / RUN_FILE).read_text())
            services = tuple(
                ServiceState(one["name"], one["pid"], tuple(one["addresses"]), one["restarts"])
                for one in told["services"]
            )
            found = cls(int(told["pid"]), float(told["started_s"]), services)
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            return None
        return found if found.is_alive else None


class RunFile:
    """Keeps the file up to date."""

    def __init__(self, folder: Path, started_s: float) -> None:
        self._folder = folder
        self._started_s = started_s

    def update(self, services: Sequence[ServiceState]) -> None:
        if services:
            RunningPlatform(os.getpid(), self._started_s, tuple(services)).save(self._folder)
        elif (running := RunningPlatform.find(self._folder)) is not None and running.pid == os.getpid():
            (self._folder / RUN_FILE).unlink(missing_ok=True)
