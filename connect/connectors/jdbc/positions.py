"""How far a table has been read, and how Kafka Connect's offsets say so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from connect.connectors.jdbc.identifiers import TableName
from connect.connectors.jdbc.loose_times import EPOCH
from connect.errors import InvalidOffsets

INCREMENTING: Final = "incrementing"
TIMESTAMP: Final = "timestamp"
TIMESTAMP_NANOS: Final = "timestamp_nanos"
POSITION_NAMES: Final = (INCREMENTING, TIMESTAMP, TIMESTAMP_NANOS)
TABLE: Final = "table"
QUERY: Final = "query"
PROTOCOL: Final = "protocol"
PROTOCOL_VERSION: Final = "1"

MILLISECONDS_PER_SECOND: Final = 1000
MICROSECONDS_PER_MILLISECOND: Final = 1000
NANOSECONDS_PER_MICROSECOND: Final = 1000
NANOSECONDS_MAX: Final = 999_999_999


_FIRST: Final = datetime.min.replace(tzinfo=UTC)


class Position(NamedTuple):
    """The last row that has been read."""

    timestamp: datetime | None = None
    incrementing: int | None = None

    @property
    def order(self) -> tuple[datetime, float]:
        """What sorts positions as rows are sorted; what is not known comes before all that is."""
        return self.timestamp or _FIRST, -math.inf if self.incrementing is None else self.incrementing

    def as_offset(self) -> dict[str, int]:
        """The time as milliseconds since 1970, and as nanoseconds of its second for what is finer."""
        offset: dict[str, int] = {}
        if self.incrementing is not None:
            offset[INCREMENTING] = self.incrementing
        if self.timestamp is not None:
            offset[TIMESTAMP] = (self.timestamp - EPOCH) // timedelta(milliseconds=1)
            offset[TIMESTAMP_NANOS] = self.timestamp.microsecond * NANOSECONDS_PER_MICROSECOND
        return offset


def position_of(offset: Mapping[str, Any] | None) -> Position:
    """The position of an offset; InvalidOffsets if it has none."""
    found = offset or {}
    incrementing = _whole_number(found, INCREMENTING)
    millis = _whole_number(found, TIMESTAMP)
    nanos = _whole_number(found, TIMESTAMP_NANOS)
    if millis is None:
        return Position(None, incrementing)
    if nanos is not None and not 0 <= nanos <= NANOSECONDS_MAX:
        raise InvalidOffsets(
            f"{TIMESTAMP_NANOS} is {nanos}: expected the nanoseconds of a second, 0 to {NANOSECONDS_MAX}"
        )
    try:
        moment = EPOCH + timedelta(seconds=millis // MILLISECONDS_PER_SECOND)
    except OverflowError:
        raise InvalidOffsets(f"{TIMESTAMP} is {millis}: expected milliseconds since 1970") from None
    micros = millis % MILLISECONDS_PER_SECOND * MICROSECONDS_PER_MILLISECOND
    return Position(
        moment.replace(microsecond=micros if nanos is None else nanos // NANOSECONDS_PER_MICROSECOND), incrementing
    )


def _whole_number(offset: Mapping[str, Any], name: str) -> int | None:
    value = offset.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InvalidOffsets(f"{name} is {value!r}: expected a whole number")


def table_partition(table: TableName) -> dict[str, str]:
    return {PROTOCOL: PROTOCOL_VERSION, TABLE: str(table)}


def older_table_partition(table: TableName) -> dict[str, str]:
    """What releases of the Java connector wrote that did not know schemas."""
    return {TABLE: table.name}


QUERY_PARTITION: Final[Mapping[str, str]] = {QUERY: QUERY}
