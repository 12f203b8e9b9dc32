"""Records on their way between a connector and a topic."""

from __future__ import annotations

from typing import Any, NamedTuple

from connect.data.schema import Schema


class Header(NamedTuple):
    """One header; a name may occur more than once."""

    name: str
    value: Any
    schema: Schema | None = None


class Record(NamedTuple):
    """A key and a value with their schemas, if they have any, and the place in Kafka.

    A source leaves `partition` to the key and `timestamp_ms` to the clock, unless it knows better; `offset` is known for records
    that come from Kafka alone. A tuple, since one is made for every record, and that in half the time of a frozen dataclass.
    """

    topic: str
    value: Any
    value_schema: Schema | None = None
    key: Any = None
    key_schema: Schema | None = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: tuple[Header, ...] = ()
    offset: int | None = None
