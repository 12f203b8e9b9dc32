"""Values in the form that a column of the database takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import types

from connect.connectors.jdbc.capabilities import Capabilities
from connect.connectors.jdbc.tables import Column
from connect.connectors.jdbc.writing.fields import RowField
from connect.connectors.jdbc.writing.moments import EpochUnit, moment
from connect.data.json_text import json_text

Convert = Callable[[Any], Any]
_PER_MILLISECOND: Final = 1000


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """`by_class` are the conversions of values by their classes; those of other classes stay as they are. `default` stands for null."""

    by_class: Mapping[type, Convert]
    default: Any = None

    def converted(self, values: list[Any]) -> list[Any]:
        if self.default is not None and None in values:
            values = [self.default if value is None else value for value in values]
        if not self.by_class:
            return values
        # Most columns have values of one class, and a look at all of them is cheaper than a call for each.
        classes = set(map(type, values))
        convertible = classes & self.by_class.keys()
        if not convertible:
            return values
        if len(classes) == 1:
            return list(map(self.by_class[classes.pop()], values))
        return [self.by_class[type(value)](value) if type(value) in convertible else value for value in values]


@dataclass(frozen=True, slots=True)
class FormRules:
    """`timezone` is that of times in columns without one; `epoch_units` are the fields whose numbers are times."""

    capabilities: Capabilities
    timezone: tzinfo
    epoch_units: Mapping[str, EpochUnit]
    replaces_null: bool

    def of(self, field: RowField, column: Column) -> ColumnForm:
        schema = field.schema
        default = schema.default_value if schema is not None and self.replaces_null else None
        by_class: dict[type, Convert] = {dict: _json, **self._times(field, column)}
        if not isinstance(column.type, types.ARRAY):
            by_class[list] = _json
        if self.capabilities.has_loose_types:
            by_class |= {Decimal: str, date: date.isoformat, time: time.isoformat}
        return ColumnForm(by_class, default)

    def _times(self, field: RowField, column: Column) -> dict[type, Convert]:
        written = self._written(column)
        unit = self.epoch_units.get(field.name)
        if unit is not None:
            return {datetime: written, int: lambda number: written(unit.moment(number))}
        # JSON has no times: its numbers are milliseconds, as those of JavaScript.
        if field.schema is None and isinstance(column.type, types.DateTime):
            return {datetime: written, int: lambda number: written(moment(number * _PER_MILLISECOND))}
        return {datetime: written}

    def _written(self, column: Column) -> Convert:
        """How a time is written: with its zone where the column keeps one, and else as a clock in the database's time zone shows it."""
        if getattr(column.type, "timezone", False):
            return lambda value: value
        in_session_zone = self.capabilities.has_session_timestamps and isinstance(column.type, types.TIMESTAMP)
        zone = UTC if in_session_zone else self.timezone
        if self.capabilities.has_loose_types:
            return _utc_text if zone is UTC else lambda value: _clock(value, zone).isoformat(" ")
        return lambda value: _clock(value, zone)


def _clock(value: datetime, zone: tzinfo) -> datetime:
    if value.tzinfo is zone or value.tzinfo is None:
        return value.replace(tzinfo=None)
    return value.astimezone(zone).replace(tzinfo=None)


def _utc_text(value: datetime) -> str:
    if value.tzinfo is UTC:
        # Quicker than to make another time without the zone first.
        return value.isoformat(" ")[: -len("+00:00")]
    return _clock(value, UTC).isoformat(" ")


def _json(value: Any) -> str:
    return json_text(value).decode()
