"""Times in a database that has no type for them: text or numbers, as whoever wrote them liked.

A comparison in such a database is one of texts or of numbers. So what a query compares with must be written as the column's own
values are, which a value of the column shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECONDS_PER_SECOND: Final = 1000
SECONDS_MAX: Final = 100_000_000_000
"""Numbers below count seconds (until the year 5138), others milliseconds (since 1973)."""
_SHAPE: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:(?P<separator>[ T])\d\d:\d\d(?::\d\d(?:\.(?P<fraction>\d+))?)?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)


def loose_datetime(value: Any, zone: tzinfo) -> datetime:
    """The time that text or a number means; text without a time zone is in the given one."""
    if isinstance(value, str):
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo is not None else found.replace(tzinfo=zone)).astimezone(UTC)
    if isinstance(value, (int, float)):
        return EPOCH + timedelta(seconds=value if abs(value) < SECONDS_MAX else value / MILLISECONDS_PER_SECOND)
    raise TypeError(f"{value!r} is no time: expected text such as 2024-05-31 12:00:00, or seconds or milliseconds")


def loose_date(value: Any, zone: tzinfo) -> date:
    return loose_datetime(value, zone).astimezone(zone).date()


def loose_time(value: Any) -> time:
    if isinstance(value, str):
        return time.fromisoformat(value)
    # Java's driver stores milliseconds of the first of January 1970.
    return (EPOCH + timedelta(milliseconds=value)).time()


@dataclass(frozen=True, slots=True)
class LooseShape:
    """How a column writes times. `digits` behind the point; None where values have none to as many as they need."""

    number_of: int | None = None
    separator: str = " "
    digits: int | None = None
    suffix: str = ""

    @classmethod
    def of(cls, sample: Any) -> LooseShape:
        """The shape of a value; of an empty column, that which SQL's own functions write."""
        if isinstance(sample, (int, float)):
            return cls(number_of=1 if abs(sample) < SECONDS_MAX else MILLISECONDS_PER_SECOND)
        found = _SHAPE.fullmatch(sample) if isinstance(sample, str) else None
        if found is None:
            return cls()
        zone = found["zone"] or ""
        # With a zone behind it, a fraction does not sort after its absence: such a column must write all of them alike.
        digits = len(found["fraction"] or "") if zone else None
        return cls(None, found["separator"] or " ", digits, zone)

    def bounds(self, moment: datetime, zone: tzinfo) -> tuple[Any, Any]:
        """What is not after any way to write this time, and what is not before any.

        Text with fewer digits sorts before the same text with more, so the two differ where the number of digits may.
        """
        if self.number_of is not None:
            number = (moment - EPOCH) / timedelta(seconds=1) * self.number_of
            number = int(number) if number == int(number) else number
            return number, number
        local = moment.astimezone(zone if self.suffix in ("", "Z") else _zone(self.suffix))
        if self.suffix == "Z":
            local = moment.astimezone(UTC)
        whole = local.strftime(f"%Y-%m-%d{self.separator}%H:%M:%S")
        fraction = f".{local.microsecond:06}"
        if self.digits is not None:
            exact = (
                whole + (fraction.ljust(self.digits + 1, "0")[: self.digits + 1] if self.digits else "") + self.suffix
            )
            return exact, exact
        return whole + fraction.rstrip("0").rstrip("."), f"{whole}{fraction}999"


def _zone(suffix: str) -> tzinfo:
    found = datetime.fromisoformat(f"2000-01-01T00:00:00{suffix}").tzinfo
    assert found is not None
    return found
