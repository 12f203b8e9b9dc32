"""Rows as a stream of Arrow's: a schema, then batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.ipc  # type: ignore[import-untyped]

from streams_sql.arrow_types import arrow_type
from streams_sql.engine.client_queries.results import Result, RowBatch
from streams_sql.http.row_forms import BrokenOff, kept
from streams_sql.spark.jobs.arrow_values import to_arrow

NOTES = b"barnabas.notes"
FIGURES = b"barnabas.figures"


class ArrowRows:
    """`notes` of the result are in the metadata of the schema, its metrics in that of a last batch without rows. Rows that a table has no
    more are left out. What goes wrong on the way has no place in it: the answer breaks off."""

    def __init__(self, result: Result) -> None:
        self._result = result
        fields = [pa.field(column.name, arrow_type(column.type)) for column in result.columns]
        metadata = {NOTES: orjson.dumps(result.notes)} if result.notes else None
        self._schema = pa.schema(fields, metadata)
        self._sink = _Sink()
        self._writer: Any = None

    def head(self) -> bytes:
        self._writer = pa.ipc.new_stream(self._sink, self._schema)
        return self._sink.taken()

    def rows(self, batch: RowBatch) -> bytes:
        found = kept(batch)
        values: Sequence[Sequence[Any]] = list(zip(*found, strict=True)) if found else [()] * len(self._schema)
        columns = zip(values, self._result.columns, self._schema, strict=True)
        arrays = [to_arrow(each, column.type, field.type) for each, column, field in columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        return self._sink.taken()

    def frames(self, batch: RowBatch) -> Sequence[bytes]:
        return (self.rows(batch),)

    def error(self, body: Mapping[str, Any]) -> bytes:
        raise BrokenOff(str(body.get("message", body)))

    def end(self) -> bytes:
        if self._result.metrics is not None:
            empty = pa.RecordBatch.from_arrays(
                [pa.array([], field.type) for field in self._schema], schema=self._schema
            )
            metrics = {FIGURES: orjson.dumps(self._result.metrics()._asdict())}
            self._writer.write_batch(empty, custom_metadata=metrics)
        self._writer.close()
        return self._sink.taken()


class _Sink:
    """What Arrow writes to: the bytes since they were taken last."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """There is nothing to close."""

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
