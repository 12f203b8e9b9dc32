"""What a process and its descendants have cost so far, read from /proc: a broker may be more than one process."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SAMPLE_INTERVAL_SECONDS = 0.05
# Which processes count, given the first of them.
Members = Callable[[int], list[int]]


def family(pid: int) -> list[int]:
    """The process and every living descendant."""
    found = [pid]
    for parent in found:
        found += _children(parent)
    return found


def without_java(pid: int) -> list[int]:
    """The same without Java's virtual machines."""
    return [member for member in family(pid) if _command(member) != "java"]


def cpu_seconds(pid: int, members: Members = family) -> float:
    """User and system time of the family, ended and reaped children included."""
    ticks = 0
    for member in members(pid):
        fields = _stat(member)
        ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS_PER_SECOND


def resident_bytes(pid: int, members: Members = family) -> int:
    return sum(int(fields[21]) * PAGE_BYTES for fields in map(_stat, members(pid)))


def proportional_bytes(pid: int, members: Members = family) -> int:
    """Resident memory in which a page that several processes share counts once: the fair sum where a family was forked."""
    return sum(map(_proportional, members(pid)))


def _children(pid: int) -> list[int]:
    """Those of all its threads; none for a process that ends meanwhile."""
    found: list[int] = []
    threads = Path(f"/proc/{pid}/task")
    with suppress(OSError):
        for thread in os.listdir(threads):
            # The thread may have ended since it was listed.
            with suppress(OSError):
                found += map(int, (threads / thread / "children").read_text().split())
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _proportional(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    kilobytes = [int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")]
    return sum(kilobytes) * 1024


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command, which may itself hold spaces; zeros for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ["0"] * 50


class PeakMemory:
    """Samples the resident memory of a family while a block of code runs."""

    def __init__(self, pid: int, sample: Callable[[int], int] = resident_bytes) -> None:
        self._pid = pid
        self._sample = sample
        self._done = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self.peak_bytes = 0

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.peak_bytes = max(self.peak_bytes, self._sample(self._pid))
            if self._done.wait(SAMPLE_INTERVAL_SECONDS):
                return
