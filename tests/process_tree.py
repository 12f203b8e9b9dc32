"""Which processes are whose children."""

from __future__ import annotations

from pathlib import Path


def children(pid: int) -> set[int]:
    """The processes that this one has started and that are still there, dead ones that nobody has asked for too."""
    return {int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit() and _parent(folder) == pid}


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def descendants(pid: int) -> set[int]:
    """The same, with the children of children."""
    found = children(pid)
    return found.union(*map(descendants, found))


def is_alive(pid: int) -> bool:
    """Whether it still runs: one that is dead and that nobody has asked for does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
