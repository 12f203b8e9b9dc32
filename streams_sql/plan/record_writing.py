"""Rows of a plan as records of the topic that they go to."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from streams_sql.formats.serde import Encode
from streams_sql.plan.pipeline import Row
from streams_sql.plan.records import OnProblem, Problem, ProblemKind, window_suffix
from streams_sql.sources import ROWTIME, WINDOWEND, WINDOWSTART, Source

Messages: TypeAlias = tuple[Sequence[bytes | None], Sequence[bytes | None], Sequence[int]]
"""Keys, values and timestamps."""


class RowEncoding:
    """`columns` are those of the rows. `topic` is where a row that cannot be written is told to come from."""

    def __init__(
        self, sink: Source, columns: tuple[str, ...], encode_key: Encode, encode_value: Encode, topic: str
    ) -> None:
        schema = sink.schema
        self._topic = topic
        self._window = sink.key_window
        self._pick_key = _picker(columns, [column.name for column in schema.key])
        self._pick_value = _picker(columns, [column.name for column in schema.value])
        self._pick_time = itemgetter(columns.index(ROWTIME))
        self._pick_bounds = None if self._window is None else _picker(columns, [WINDOWSTART, WINDOWEND])
        self._encode_key = encode_key
        self._encode_value = encode_value
        self._no_key = (None,) * len(schema.key)

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
        pick_value, no_key = self._pick_value, self._no_key
        keys: Sequence[bytes | None] = [None] * len(rows)
        if no_key:
            picked = map(self._pick_key, rows)
            keys = self._encode_key([None if key == no_key else key for key in picked])
        if self._pick_bounds is not None and self._window is not None:
            bounds = map(self._pick_bounds, rows)
            keys = [
                key if key is None else key + window_suffix(self._window, *bound)
                for key, bound in zip(keys, bounds, strict=True)
            ]
        values = self._encode_value([None if row[-1][0] else pick_value(row) for row in rows])
        return keys, values, list(map(self._pick_time, rows))


def _picker(columns: Sequence[str], wanted: Sequence[str]) -> Any:
    places = [columns.index(name) for name in wanted]
    match places:
        case []:
            return lambda row: ()
        case [only]:
            return lambda row: (row[only],)
    return itemgetter(*places)
