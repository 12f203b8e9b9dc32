"""Times of PostgreSQL that Python does not know: infinity, and years before 1 or after 9999. The nearest that it knows stand for them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, TypeVar

from psycopg import DataError
from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader

FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)
_BEFORE_ALL: Final = (b"-infinity", b"BC")

T = TypeVar("T")


def _nearest(data: Any, first: T, last: T) -> T:
    return first if bytes(data).endswith(_BEFORE_ALL) else last


class _BoundedDates(DateLoader):
    def load(self, data: Any) -> date:
        try:
            return super().load(data)
        except DataError:
            return _nearest(data, date.min, date.max)


class _BoundedTimestamps(TimestampLoader):
    def load(self, data: Any) -> datetime:
        try:
            return super().load(data)
        except DataError:
            return _nearest(data, FIRST, LAST).replace(tzinfo=None)


class _BoundedTimestampsWithZone(TimestamptzLoader):
    def load(self, data: Any) -> datetime:
        try:
            return super().load(data)
        except DataError:
            return _nearest(data, FIRST, LAST)


LOADERS: Final[Mapping[str, type[Any]]] = {
    "date": _BoundedDates,
    "timestamp": _BoundedTimestamps,
    "timestamptz": _BoundedTimestampsWithZone,
}
