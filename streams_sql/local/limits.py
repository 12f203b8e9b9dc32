"""How much a query may hold that runs in this process."""

from __future__ import annotations

from typing import Any, Final

STATE_ENTRIES_MAX: Final = 2_000_000
"""Rows, groups and values that the operators of one query may keep together."""
COUNT_INTERVAL_MIN: Final = 10_000
"""Rows that an operator takes between two looks at how much it keeps."""


class StateTooLarge(Exception):
    """A query keeps more than this process has room for; the message says what to do."""

    def __init__(self) -> None:
        super().__init__(
            f"The query keeps more than {STATE_ENTRIES_MAX} rows or values of aggregates, which is more than it may while it runs inside "
            "the server. Make it a persistent query (CREATE TABLE … AS SELECT or CREATE STREAM … AS SELECT), or read less of its "
            "sources."
        )


def weight(state: Any) -> int:
    """How many rows and values there are in a state."""
    if isinstance(state, dict):
        return sum(map(weight, state.values()))
    if isinstance(state, list):
        return sum(map(weight, state))
    return 1
