"""The platform that runs on a data directory, for commands that look at it: a file in that folder, as long as it runs.

Commands in other folders find it by a file of the user who started it, which names the data directory.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from barnabas.kernel.state_folder import state_folder

RUN_FILE: Final = "running.json"
_NOTES: Final = "running"
"""The folder of files that name data directories; each has the process id of a supervisor for its name."""
_FOLDER_MODE: Final = 0o700
_PROCESSES: Final = Path("/proc")
SUPERVISED: Final = "--supervised"
"""On the command line of each service of a platform."""
_THIS_MACHINE: Final = frozenset({"", "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::]"})  # noqa: S104 - only compared


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What is known of a service from outside."""

    name: str
    pid: int | None
    addresses: tuple[str, ...]
    restarts: int

    def listens_at(self, address: str) -> bool:
        """HOST:PORT of this machine."""
        return any(_is_same(address, own) for own in self.addresses)


@dataclass(frozen=True, slots=True)
class RunningPlatform:
    """`pid` is that of the supervisor; `started_s` in seconds since 1970. `version` is that of what was started, where it is told."""

    pid: int
    started_s: float
    services: tuple[ServiceState, ...]
    version: str | None = None

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

    def holds(self, address: str) -> bool:
        """Whether one of its services listens at HOST:PORT of this machine."""
        return any(state.listens_at(address) for state in self.services)

    def save(self, folder: Path) -> None:
        # Renamed into place: who reads it sees a whole file.
        arriving = folder / f".{RUN_FILE}.{self.pid}"
        arriving.write_text(json.dumps(asdict(self), indent=1) + "\n")
        arriving.replace(folder / RUN_FILE)

    @property
    def left_behind(self) -> list[ServiceState]:
        """Services that still run although the supervisor was killed: they are ending."""
        return [] if self.is_alive else [state for state in self.services if _serves(state)]

    @classmethod
    def find(cls, folder: Path) -> RunningPlatform | None:
        """The platform that runs there, if one does."""
        found = cls.last(folder)
        return found if found is not None and found.is_alive else None

    @classmethod
    def last(cls, folder: Path) -> RunningPlatform | None:
        """The one that runs there, or that was killed there."""
        try:
            told = json.loads((folder / RUN_FILE).read_text())
            services = tuple(
                ServiceState(one["name"], one["pid"], tuple(one["addresses"]), one["restarts"])
                for one in told["services"]
            )
            return cls(int(told["pid"]), float(told["started_s"]), services, told.get("version"))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _serves(state: ServiceState) -> bool:
    """The id of a process that has ended may be another one's by now."""
    try:
        words = (_PROCESSES / str(state.pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return SUPERVISED.encode() in words and state.name.encode() in words


def running_platforms() -> Iterator[tuple[Path, RunningPlatform]]:
    """Those that this user has started, with their data directories. Files of such as were killed are removed."""
    try:
        notes = sorted((state_folder() / _NOTES).iterdir())
    except (OSError, RuntimeError):
        return
    for note in notes:
        with contextlib.suppress(OSError):
            folder = Path(note.read_text())
            running = RunningPlatform.find(folder)
            if running is not None and str(running.pid) == note.name:
                yield folder, running
            else:
                note.unlink(missing_ok=True)


def _is_same(address: str, own: str) -> bool:
    host, _, port = address.rpartition(":")
    own_host, _, own_port = own.rpartition(":")
    return port == own_port and (host == own_host or {host, own_host} <= _THIS_MACHINE)


class RunFile:
    """Keeps the file up to date."""

    def __init__(self, folder: Path, started_s: float, version: str | None = None) -> None:
        self._folder = folder
        self._started_s = started_s
        self._version = version

    def update(self, services: Sequence[ServiceState]) -> None:
        if services:
            RunningPlatform(os.getpid(), self._started_s, tuple(services), self._version).save(self._folder)
            self._note()
        elif (running := RunningPlatform.find(self._folder)) is not None and running.pid == os.getpid():
            (self._folder / RUN_FILE).unlink(missing_ok=True)
            self._note(is_over=True)

    def _note(self, *, is_over: bool = False) -> None:
        """A user without a home, or one that cannot be written to, has to name the data directory to commands."""
        with contextlib.suppress(OSError, RuntimeError):
            note = state_folder() / _NOTES / str(os.getpid())
            if is_over:
                note.unlink(missing_ok=True)
            elif not note.exists():
                note.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
                note.write_text(str(self._folder.absolute()))
