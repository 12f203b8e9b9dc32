"""Orders, payments and users, the queries over them, and what must come out, worked out once more in plain Python."""

from __future__ import annotations

import struct
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Not long ago: brokers delete what is old by its own time.
BASE_MS = int(time.time()) * 1_000 - 3_600_000
MS_BETWEEN = 20
WINDOW_MS = 1_000
PAID_AFTER_MS = 500
KINDS_OF_USERS = 8
USERS = {f"user-{number}": f"Name {number}" for number in range(KINDS_OF_USERS - 1)}
"""All but the last one, whose orders find nobody."""
TABLES = ("PER_USER", "PER_SECOND")
STREAMS = ("BIG", "PAID_ORDERS", "NAMED_ORDERS")


@dataclass(frozen=True, slots=True)
class Order:
    number: int

    @property
    def user(self) -> str:
        return f"user-{self.number * 5 % KINDS_OF_USERS}"

    @property
    def amount(self) -> int:
        return self.number * 37 % 1000

    @property
    def time_ms(self) -> int:
        return BASE_MS + self.number * MS_BETWEEN

    @property
    def is_paid(self) -> bool:
        return self.number % 2 == 0

    @property
    def paid(self) -> int:
        return self.number * 3

    @property
    def key(self) -> bytes:
        return struct.pack(">q", self.number)


_QUERIES = {
    "BIG": "CREATE STREAM BIG {} AS SELECT ID, AMOUNT * 2 AS DOUBLED FROM ORDERS WHERE AMOUNT > 500;",
    "PER_USER": """
        CREATE TABLE PER_USER {} AS
            SELECT USER_ID, COUNT(*) AS ORDERED, SUM(AMOUNT) AS TOTAL FROM ORDERS GROUP BY USER_ID;""",
    "PER_SECOND": """
        CREATE TABLE PER_SECOND {} AS
            SELECT USER_ID, COUNT(*) AS ORDERED, SUM(AMOUNT) AS TOTAL FROM ORDERS
            WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY USER_ID;""",
    "PAID_ORDERS": """
        CREATE STREAM PAID_ORDERS {} AS
            SELECT O.ID AS ID, O.AMOUNT AS AMOUNT, P.PAID AS PAID
            FROM ORDERS O JOIN PAYMENTS P WITHIN 10 SECONDS ON O.ID = P.ORDER_ID;""",
    "NAMED_ORDERS": """
        CREATE STREAM NAMED_ORDERS {} AS
            SELECT O.USER_ID AS USER_ID, O.AMOUNT AS AMOUNT, U.NAME AS NAME
            FROM ORDERS O JOIN USERS U ON O.USER_ID = U.ID;""",
}


def statements(prefix: str) -> str:
    """`prefix` begins all topics, so that several tests can share a broker."""
    return f"""
        CREATE STREAM ORDERS (ID BIGINT KEY, USER_ID VARCHAR, AMOUNT INT)
            WITH (KAFKA_TOPIC='{prefix}orders', PARTITIONS=2, VALUE_FORMAT='JSON');
        CREATE STREAM PAYMENTS (ORDER_ID BIGINT KEY, PAID INT)
            WITH (KAFKA_TOPIC='{prefix}payments', PARTITIONS=2, VALUE_FORMAT='JSON');
        CREATE TABLE USERS (ID VARCHAR PRIMARY KEY, NAME VARCHAR)
            WITH (KAFKA_TOPIC='{prefix}users', PARTITIONS=2, VALUE_FORMAT='JSON');
    """


def queries(prefix: str, names: tuple[str, ...] = (*STREAMS, *TABLES)) -> str:
    """The queries that make these streams and tables."""
    written = {name: f"WITH (KAFKA_TOPIC='{prefix}{name.lower()}')" for name in _QUERIES}
    return "\n".join(text.format(written[name]) for name, text in _QUERIES.items() if name in names)


@dataclass(frozen=True, slots=True)
class Expected:
    """What the sinks of all queries hold for so many orders: rows of streams, and the last value of each key of tables."""

    orders: list[Order]

    @classmethod
    def of(cls, count: int) -> Expected:
        return cls([Order(number) for number in range(count)])

    def stream(self, name: str) -> set[tuple[Any, ...]]:
        return set({"BIG": self._big, "PAID_ORDERS": self._paid, "NAMED_ORDERS": self._named}[name]())

    def table(self, name: str) -> dict[tuple[Any, ...], tuple[int, int]]:
        return {"PER_USER": self._per_user, "PER_SECOND": self._per_second}[name]()

    def _big(self) -> Iterable[tuple[Any, ...]]:
        return ((order.number, order.amount * 2) for order in self.orders if order.amount > 500)

    def _paid(self) -> Iterable[tuple[Any, ...]]:
        return ((order.number, order.amount, order.paid) for order in self.orders if order.is_paid)

    def _named(self) -> Iterable[tuple[Any, ...]]:
        return ((order.user, order.amount, USERS[order.user]) for order in self.orders if order.user in USERS)

    def _per_user(self) -> dict[tuple[Any, ...], tuple[int, int]]:
        return _sums(((order.user,), order.amount) for order in self.orders)

    def _per_second(self) -> dict[tuple[Any, ...], tuple[int, int]]:
        return _sums(((order.user, order.time_ms // WINDOW_MS * WINDOW_MS), order.amount) for order in self.orders)


def _sums(amounts: Iterable[tuple[tuple[Any, ...], int]]) -> dict[tuple[Any, ...], tuple[int, int]]:
    found: defaultdict[tuple[Any, ...], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for key, amount in amounts:
        count, total = found[key]
        found[key] = (count + 1, total + amount)
    return dict(found)
