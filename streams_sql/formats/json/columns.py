"""JSON to columns, many records at once: a decoder that knows the names and types of the fields makes no dict of a record, and takes
half the time.

It is strict: whatever is not plainly of the type of its column, and whatever name it has not met, is an error, upon which these records
are left to the decoder of `json_decoding`. That one is the reference. Names are learned from records, since they may be in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import orjson

from streams_sql.evaluation.integers import BIGINT_MAX, INTEGER_MAX
from streams_sql.formats.serde import DecodeColumns, Layout
from streams_sql.formats.wrapping import is_wrapped
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, BOOLEAN, DOUBLE, INTEGER, STRING, SqlType

FAILURES_MAX: Final = 20
"""In a row, after which nothing is learned any more: there is something about these records that is not their names."""
NAMES_MAX: Final = 200
"""Of records with more, each by itself is read."""

_TYPES: Final[Mapping[SqlType, Any]] = {
    BOOLEAN: bool | None,
    INTEGER: int | None,
    BIGINT: int | None,
    DOUBLE: float | None,
    STRING: str | None,
}
_MAXIMA: Final[Mapping[SqlType, int]] = {INTEGER: INTEGER_MAX, BIGINT: BIGINT_MAX}

_values: Final = msgspec.structs.astuple


def json_columns(layout: Layout) -> DecodeColumns | None:
    """None where a column is not of a plain type, or stands alone."""
    if not is_wrapped(layout) or not all(column.type in _TYPES for column in layout.columns):
        return None
    return _Learner(layout.columns).columns


class _Learner:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._names: dict[str, None] = {}
        self._failures = 0
        self._decode: DecodeColumns = _no_columns

    def columns(self, payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
        found = self._decode(payloads)
        if found is None and self._failures < FAILURES_MAX and self._has_learned(payloads):
            found = self._decode(payloads)
        self._failures = self._failures + 1 if found is None else 0
        return found

    def _has_learned(self, payloads: Sequence[bytes | None]) -> bool:
        """Whether these records have names that were not known."""
        known = len(self._names)
        try:
            for payload in payloads:
                names: Any = orjson.loads(payload or b"")
                self._names |= dict.fromkeys(names if type(names) is dict else ())
        except ValueError:
            return False
        if len(self._names) > known:
            self._decode = _decoder(tuple(self._names), self._columns) or _no_columns
        return len(self._names) > known


def _no_columns(payloads: Sequence[bytes | None]) -> None:
    return None


def _decoder(names: Sequence[str], columns: Sequence[Column]) -> DecodeColumns | None:
    """Of objects with these names or some of them. None where it matters which of them an object has, since one column has two."""
    places = {name: place for place, name in enumerate(names)}
    upper = {name.upper(): name for name in names}
    if len(upper) < len(names) or len(names) > NAMES_MAX:
        return None
    wanted = [places.get(column.name, places.get(upper.get(column.name, ""))) for column in columns]
    types = {place: _TYPES[column.type] for place, column in zip(wanted, columns, strict=True)}
    limits = [
        (place, _MAXIMA[column.type])
        for place, column in zip(wanted, columns, strict=True)
        if place is not None and column.type in _MAXIMA
    ]
    filled = [place for place in wanted if place is not None]
    if len(set(filled)) < len(filled):
        # Two columns whose names differ in nothing but their case.
        return None
    fields = [
        (f"f{place}", types.get(place, Any), msgspec.field(default=None, name=name)) for name, place in places.items()
    ]
    try:
        record = msgspec.defstruct("Record", fields, forbid_unknown_fields=True, gc=False)
    except ValueError:
        # A name that would have to be escaped.
        return None
    decode: Callable[[Any], msgspec.Struct] = msgspec.json.Decoder(record).decode

    def decode_columns(payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]] | None:
        try:
            found = list(zip(*map(_values, map(decode, payloads)), strict=True))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
            return None
        if not found or not all(_are_within(found[place], maximum) for place, maximum in limits):
            return None
        nothing = (None,) * len(payloads)
        return [nothing if place is None else found[place] for place in wanted]

    return decode_columns


def _are_within(values: Sequence[int | None], maximum: int) -> bool:
    try:
        return -maximum <= min(values) and max(values) <= maximum  # type: ignore[type-var, operator]
    except TypeError:
        present = [value for value in values if value is not None]
        return not present or _are_within(present, maximum)
