"""A row with a value of each type, and what else tests of both clients share."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from tests.sql_service import SqlProcess

AT = datetime.datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=datetime.UTC)

FULL: dict[str, Any] = {
    "K": "ä",
    "I": -(2**31),
    "B": 2**63 - 1,
    "D": 0.1,
    "N": Decimal("1234567890123456789012.50"),
    "O": True,
    "Y": b"\x00\xff",
    "T": AT,
    "DA": datetime.date(1969, 12, 31),
    "TI": datetime.time(1, 2, 3),
    "L": [AT, None],
    "M": {"a": 1, "b": None},
    "S": {"A": 1, "SEEN": AT, "DEEP": [Decimal("1.5"), None]},
}
EMPTY: dict[str, Any] = {**dict.fromkeys(FULL), "K": "nothing"}


def push_queries(server: SqlProcess) -> int:
    (listed,) = server.execute("SHOW QUERIES;")
    return sum(query["queryType"] == "PUSH" for query in listed["queries"])
