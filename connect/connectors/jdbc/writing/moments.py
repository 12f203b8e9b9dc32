"""Times as whole numbers since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from connect.data.mismatch import not_a

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PER_MICROSECOND: Final = 1000


class EpochUnit(Enum):
    """The words of the setting `timestamp.precision.mode`; numbers of JSON are milliseconds."""

    MICROSECONDS = "microseconds"
    NANOSECONDS = "nanoseconds"

    def moment(self, number: int) -> datetime:
        return moment(number if self is EpochUnit.MICROSECONDS else number // _PER_MICROSECOND)


def moment(microseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        raise not_a("a number of microseconds since 1970 that a time can have", microseconds) from None
