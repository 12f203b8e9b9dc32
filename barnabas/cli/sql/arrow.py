"""The table that a statement returns as a stream of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.ipc  # type: ignore[import-untyped]


def write_table(out: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    values = list(zip(*rows, strict=True)) or [()] * len(names)
    table = pa.table(dict(zip(names, map(_column, values), strict=True)))
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


def _column(values: Sequence[Any]) -> Any:
    """Numbers and truth values as they are, where all are of one kind; else texts."""
    kinds = {type(value) for value in values if value is not None}
    kind = {frozenset({bool}): pa.bool_(), frozenset({int}): pa.int64()}.get(frozenset(kinds), pa.string())
    texts = kind == pa.string()
    return pa.array([str(value) if texts and value is not None else value for value in values], kind)
