"""Records of a query's topic as rows of a result."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from streams_sql.plan.nodes import PersistentPlan
from streams_sql.sources import KeyWindow
from streams_sql.sql_types import BIGINT, INTEGER, SqlType
from tests.streams_sql.recomputation.outcomes import Bounds, Outcome, ResultRow, stream_outcome, table_outcome
from tests.streams_sql.recomputation.queries import Select


class SinkRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    time: int


def sink_outcome(plan: PersistentPlan, query: Select, records: Iterable[SinkRecord]) -> Outcome:
    """Of records whose key is in Kafka's format, and whose value is JSON."""
    sink = plan.sink
    (key_column,) = sink.schema.key
    names = [item.name.upper() for item in query.items[1:]]
    rows = [
        ResultRow(*_key(record.key, key_column.type, sink.key_window), _values(record.value, names), record.time)
        for record in records
    ]
    return table_outcome(rows) if sink.is_table else stream_outcome(rows)


def _key(key: bytes | None, type_: SqlType, window: KeyWindow | None) -> tuple[Any, Bounds | None]:
    bounds: Bounds | None = None
    if key is not None and window is not None:
        if window.size_ms is None:
            end, start = struct.unpack(">qq", key[-16:])
            key, bounds = key[:-16], (start, end)
        else:
            (start,) = struct.unpack(">q", key[-8:])
            key, bounds = key[:-8], (start, start + window.size_ms)
    if key is None:
        return None, bounds
    if type_ in (INTEGER, BIGINT):
        (number,) = struct.unpack(">i" if type_ == INTEGER else ">q", key)
        return number, bounds
    return key.decode(), bounds


def _values(value: bytes | None, names: list[str]) -> tuple[Any, ...] | None:
    if value is None:
        return None
    found = json.loads(value, parse_float=Decimal)
    assert sorted(found) == sorted(names), value
    return tuple(found[name] for name in names)
