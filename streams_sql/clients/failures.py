"""Why the server did not do what a client asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

_PLACE: Final = re.compile(r"line (\d+):(\d+): (.*?)(?:\n  .*)?", re.DOTALL)
"""The server begins a message with the place, and ends it with the line of the statement and a caret below it."""


class ServerUnreachable(Exception):
    """Nobody answers at the address, or not as a server does."""


class Refused(Exception):
    """The server's own words. `code` is ksqlDB's: the HTTP status with two digits more.

    `line` and `column` (both begin at 1) are the place in `statement` that is meant, where there is one, and `reason` is the message without
    the place and the caret. Of a request with several statements, `done` are the answers to those before the one that failed.
    """

    def __init__(
        self, message: str, code: int, statement: str | None = None, done: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.statement = statement
        self.done = tuple(done)
        place = _PLACE.fullmatch(message)
        self.line = None if place is None else int(place[1])
        self.column = None if place is None else int(place[2])
        self.reason = message if place is None else place[3]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Refused:
        return cls(
            str(body.get("message", body)),
            int(body.get("error_code", 0)),
            body.get("statementText"),
            body.get("entities") or (),
        )


class RowsRefused(Exception):
    """Rows that were not written, by their places in what was to be inserted, with the reasons; the others were written."""

    def __init__(self, problems: Mapping[int, str], written: int) -> None:
        place, reason = next(iter(problems.items()))
        more = f"; {len(problems) - 1} more were refused" if len(problems) > 1 else ""
        super().__init__(f"Row {place} was refused: {reason}{more}")
        self.problems = problems
        self.written = written
