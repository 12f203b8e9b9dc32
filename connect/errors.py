"""What a connector may say went wrong. Anything else that it raises is a defect of the connector or of its input, and ends its task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ConnectError(Exception):
    """The task cannot go on: the message says what failed, with which value, and what to do."""


class Retry(ConnectError):
    """The other side is away (a database, a file system, a service): the same call is made again after a pause, and nothing is lost."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class DataError(ConnectError):
    """A single record or row that cannot be converted or written, whenever it is tried."""


class InvalidOffsets(ConnectError):
    """Offsets that somebody wants to set and that the connector could not go on from."""


class Problem(NamedTuple):
    """What is wrong with the value of a setting."""

    name: str
    message: str


class InvalidSettings(ConnectError):
    """Every problem of a configuration at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(f"{problem.name}: {problem.message}" for problem in problems))
        self.problems = problems
