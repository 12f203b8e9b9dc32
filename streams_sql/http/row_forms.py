"""The forms in which the rows of a query travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import orjson

from streams_sql.engine.client_queries.results import Result, ResultKind, RowBatch
from streams_sql.http.values import rows_encoder

LIMIT_REACHED: Final = "Limit Reached"
QUERY_COMPLETED: Final = "Query Completed"

_ROW: Final = b'{"row":{"columns":%b}}'


class RowForm(Protocol):
    """Made for one result. Each method gives the next piece of the answer; `error` and `end` are the last."""

    def head(self) -> bytes: ...

    def rows(self, batch: RowBatch) -> bytes: ...

    def frames(self, batch: RowBatch) -> Sequence[bytes]:
        """The same for a client that listens: what must not come together."""

    def error(self, body: Mapping[str, Any]) -> bytes: ...

    def end(self) -> bytes: ...


class BrokenOff(Exception):
    """An answer whose form has no place for what went wrong on the way."""


MakeForm: TypeAlias = Callable[[Result], RowForm]


class StreamedRows:
    """One JSON array that begins with a header; each row is an object. It ends with a message, except for what a table holds. Where there
    is a message, each piece before it is whole with its line, since clients read lines as they come."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._encode = rows_encoder(result.columns)
        self._before, self._after = (b",\n", b"") if result.kind is ResultKind.PULL else (b"", b",\n")

    def head(self) -> bytes:
        header = {"queryId": self._result.query_id, "schema": schema_text(self._result), **_notes(self._result)}
        return b"[" + orjson.dumps({"header": header}) + self._after

    def rows(self, batch: RowBatch) -> bytes:
        before, after = self._before, self._after
        return b"".join([before + piece + after for piece in self._objects(batch)])

    def frames(self, batch: RowBatch) -> Sequence[bytes]:
        return (self.rows(batch),)

    def error(self, body: Mapping[str, Any]) -> bytes:
        return self._before + orjson.dumps({"errorMessage": body}) + b"]\n"

    def end(self) -> bytes:
        if self._result.kind is ResultKind.PULL:
            return b"]\n"
        message = LIMIT_REACHED if self._result.limit_reached() else QUERY_COMPLETED
        return orjson.dumps({"finalMessage": message, **_metrics(self._result)}) + b"]\n"

    def kept_objects(self, batch: RowBatch) -> list[bytes]:
        """An object for each row that there is, without what goes between them."""
        return [_ROW % row for row in self._encode(kept(batch))]

    def _objects(self, batch: RowBatch) -> list[bytes]:
        pieces = [_ROW % row for row in self._encode(batch.rows)]
        for place in batch.deleted:
            pieces[place] = pieces[place][:-2] + b',"tombstone":true}}'
        return pieces


class RowLines:
    """A line for the columns and then one for each row, an array. Rows that a table has no more are left out."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._encode = rows_encoder(result.columns)

    def head(self) -> bytes:
        return _columns(self._result) + b"\n"

    def rows(self, batch: RowBatch) -> bytes:
        return b"".join(self.frames(batch))

    def frames(self, batch: RowBatch) -> Sequence[bytes]:
        """There are clients that take what comes at once for one row."""
        return [row + b"\n" for row in self._encode(kept(batch))]

    def error(self, body: Mapping[str, Any]) -> bytes:
        return orjson.dumps(body) + b"\n"

    def end(self) -> bytes:
        return b""


class FiguredLines(RowLines):
    """The same for a client that has asked for the metrics of the query: the last line, an object, has them."""

    def end(self) -> bytes:
        metrics = _metrics(self._result)
        return orjson.dumps(metrics) + b"\n" if metrics else b""


class RowArrays:
    """The same as one JSON array."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._encode = rows_encoder(result.columns)

    def head(self) -> bytes:
        return b"[" + _columns(self._result)

    def rows(self, batch: RowBatch) -> bytes:
        return b"".join([b",\n" + row for row in self._encode(kept(batch))])

    def frames(self, batch: RowBatch) -> Sequence[bytes]:
        return (self.rows(batch),)

    def error(self, body: Mapping[str, Any]) -> bytes:
        return b",\n" + orjson.dumps(body) + b"]\n"

    def end(self) -> bytes:
        return b"]\n"


def schema_text(result: Result) -> str:
    """Clients take names and types out of it. Keys are marked for pull queries only."""
    marks = result.keys if result.kind is ResultKind.PULL else (False,) * len(result.columns)
    return ", ".join(
        f"{column} KEY" if is_key else str(column) for column, is_key in zip(result.columns, marks, strict=True)
    )


def _columns(result: Result) -> bytes:
    names = [column.name for column in result.columns]
    types = [str(column.type) for column in result.columns]
    return orjson.dumps({"queryId": result.query_id, "columnNames": names, "columnTypes": types, **_notes(result)})


def _notes(result: Result) -> dict[str, Any]:
    """What there is to say about a result; clients that do not know the member pass over it."""
    return {"notes": result.notes} if result.notes else {}


def _metrics(result: Result) -> dict[str, Any]:
    """What the query has given and cost, where that is known; clients that do not know the member pass over it."""
    return {} if result.metrics is None else {"figures": result.metrics()._asdict()}


def kept(batch: RowBatch) -> Sequence[tuple[Any, ...]]:
    if not batch.deleted:
        return batch.rows
    gone = set(batch.deleted)
    return [row for place, row in enumerate(batch.rows) if place not in gone]
