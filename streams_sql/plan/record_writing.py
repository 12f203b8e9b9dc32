"""Rows of a plan as records of the topic that they go to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from streams_sql.formats.serde import Encode
from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import OnProblem, Problem, ProblemKind, window_suffix
from streams_sql.sources import ROWTIME, WINDOWEND, WINDOWSTART, Source

Messages: TypeAlias = tuple[Sequence[bytes | None], Sequence[bytes | None], Sequence[int]]
"""Keys, values and timestamps."""


class RowEncoding:
    """Column by column. `columns` are those of the rows; `topic` is where a row that cannot be written is told to come from."""

    def __init__(
        self, sink: Source, columns: tuple[str, ...], encode_key: Encode, encode_value: Encode, topic: str
    ) -> None:
        schema = sink.schema
        self._topic = topic
        self._window = sink.key_window
        self._key = [columns.index(column.name) for column in schema.key]
        self._value = [columns.index(column.name) for column in schema.value]
        self._time = columns.index(ROWTIME)
        self._time_column = None if sink.timestamp is None else sink.timestamp.column
        self._time_source = None if self._time_column is None else columns.index(self._time_column)
        # None of its parts: the record had no key, unless PARTITION BY made one of several columns.
        self._no_key = None if sink.makes_keys and len(schema.key) > 1 else (None,) * len(schema.key)
        bounds = (WINDOWSTART, WINDOWEND) if self._window is not None else ()
        self._bounds = [columns.index(name) for name in bounds]
        self._encode_key = encode_key
        self._encode_value = encode_value

    def messages(self, rows: list[Row], on_problem: OnProblem) -> Messages:
        """Rows that cannot be written are handed to `on_problem`, and left out."""
        try:
            return self._encoded(rows)
        except Exception:  # noqa: BLE001 - which row it is, is found out one by one
            return self._encoded_singly(rows, on_problem)

    def _encoded_singly(self, rows: list[Row], on_problem: OnProblem) -> Messages:
        messages = []
        for row in rows:
            try:
                (key,), (value,), (timestamp,) = self._encoded([row])
                messages.append((key, value, timestamp))
            except Exception as error:  # noqa: BLE001 - one bad row must not stop the query
                reason = f"The row cannot be written: {error}"
                on_problem(Problem(self._topic, row[-1][1], row[-1][2], reason, ProblemKind.SERIALIZATION))
        keys, values, timestamps = zip(*messages, strict=True) if messages else ((), (), ())
        return keys, values, timestamps

    def _encoded(self, rows: list[Row]) -> Messages:
        if not rows:
            return (), (), ()
        columns = list(zip(*rows, strict=True))
        return self._keys(columns), self._values(columns), self._timestamps(columns)

    def _timestamps(self, columns: Sequence[Sequence[Any]]) -> Sequence[int]:
        """ValueError where a row has none in the column that they come from."""
        times = columns[self._time]
        if self._time_source is not None:
            sources = zip(columns[self._time_source], columns[-1], times, strict=True)
            for value, origin, time in sources:
                if time < 0 or (value is None and not origin[0]):
                    raise ValueError(
                        f"the timestamp column {self._time_column} is {value!r}, which is not a time from 1970 on"
                    )
        return times

    def _keys(self, columns: Sequence[Sequence[Any]]) -> Sequence[bytes | None]:
        if not self._key:
            return [None] * len(columns[-1])
        no_key = self._no_key
        keys = self._encode_key([None if key == no_key else key for key in _parts(columns, self._key)])
        if self._window is None:
            return keys
        window, bounds = self._window, _parts(columns, self._bounds)
        return [
            key if key is None else key + window_suffix(window, *bound) for key, bound in zip(keys, bounds, strict=True)
        ]

    def _values(self, columns: Sequence[Sequence[Any]]) -> Sequence[bytes | None]:
        values: list[Row | None] = list(_parts(columns, self._value))
        for place in [place for place, origin in enumerate(columns[-1]) if origin[0]]:
            values[place] = None
        return self._encode_value(values)


def _parts(columns: Sequence[Sequence[Any]], places: Sequence[int]) -> Iterable[Row]:
    """Of each row what is at these places."""
    return zip(*[columns[place] for place in places], strict=True) if places else repeat((), len(columns[-1]))
