"""Times that are written as texts where ROWTIME and the bounds of windows, which are numbers, are compared with them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from streams_sql.analysis.operators import COMPARISONS
from streams_sql.analysis.traversal import rewritten
from streams_sql.language.expressions import Between, Binary, ColumnName, Expression, Literal
from streams_sql.problem import SqlProblem
from streams_sql.sources import ROWTIME, WINDOW_BOUNDS

MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME: Final = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?"
    r"(?:T([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,3}))?)?)?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


def with_times_as_numbers(condition: Expression) -> Expression:
    """ROWTIME > '2020-02-13T12:00' becomes a comparison of numbers."""
    return rewritten(condition, _changed)


def _changed(expression: Expression) -> Expression | None:
    match expression:
        case Binary(operator, left, right) if operator in COMPARISONS and (_is_time(left) or _is_time(right)):
            if isinstance(left, Literal | ColumnName) and isinstance(right, Literal | ColumnName):
                return Binary(operator, _number(left), _number(right), position=expression.position)
        case Between(operand, low, high, is_negated) if _is_time(operand):
            return Between(operand, _number(low), _number(high), is_negated, position=expression.position)
    return None


def _is_time(expression: Expression) -> bool:
    if not isinstance(expression, ColumnName):
        return False
    return any(expression.name == name or expression.name.endswith(f"_{name}") for name in (ROWTIME, *WINDOW_BOUNDS))


def _number(expression: Expression) -> Expression:
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        return expression
    return Literal(milliseconds_of(expression.value, expression), position=expression.position)


def milliseconds_of(text: str, place: Expression) -> int:
    """What a time such as 2020-02-13T12:00:01.5+01:00 is since 1970 in UTC. What is left out is zero, or the first."""
    match = _TIME.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
        milliseconds = int((match[7] or "0").ljust(3, "0"))
        zone = _zone(match[8])
        moment = datetime(
            year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0, milliseconds * 1000, zone
        )
    except ValueError:
        raise SqlProblem(
            f"Failed to parse timestamp '{text}': it has to look like 2020-02-13T12:00:01.5+01:00; "
            "all from the month on may be left out.",
            place.position,
        ) from None
    return (moment - _EPOCH) // MILLISECOND


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=minutes if text[0] == "+" else -minutes))
