"""Rows as tables of Arrow and pandas, which are imported by who asks for them alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from streams_sql.arrow_types import arrow_type
from streams_sql.clients.types import parse_type

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import pyarrow as pa  # type: ignore[import-untyped]

BATCH_ROWS: Final = 10_000
"""Rows that are turned into columns at once: only these are Python objects at a time."""


def arrow_table(columns: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]]) -> pa.Table:
    """Every column has the type of its SQL type, also where it holds nothing but NULL."""
    import pyarrow as pa

    schema = arrow_schema(columns, types)
    remaining, batches = iter(rows), []
    while taken := list(islice(remaining, BATCH_ROWS)):
        batches.append(arrow_batch(schema, taken))
    return pa.Table.from_batches(batches, schema)


def arrow_schema(columns: Sequence[str], types: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pa.field(name, arrow_type(parse_type(text))) for name, text in zip(columns, types, strict=True)])


def arrow_batch(schema: pa.Schema, rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    import pyarrow as pa

    arrays = [pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    """A column has one type, whether or not it holds NULL; pandas' own choice would be floats for integers that are missing."""
    import pandas as pd
    import pyarrow as pa

    kept = {pa.int32(): pd.Int32Dtype(), pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    found: pd.DataFrame = table.to_pandas(types_mapper=kept.get, maps_as_pydicts="strict")
    return found
