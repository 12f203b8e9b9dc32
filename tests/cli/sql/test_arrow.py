"""Tables of statements as streams of Arrow's."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pyarrow.ipc  # type: ignore[import-untyped]
import pytest

from barnabas.cli.sql.arrow import write_table

NAMES = ("name", "windowed", "partitions", "sizes")


@pytest.mark.parametrize(
    ("rows", "types"),
    [
        ([], ["string", "string", "string", "string"]),
        ([("A", True, 3, [1, 2]), ("B", None, None, None)], ["string", "bool", "int64", "string"]),
        ([(None, False, 1, 1), ("B", True, "many", "2")], ["string", "bool", "string", "string"]),
    ],
)
def test_a_column_has_the_type_that_all_its_values_have(rows: list[tuple[Any, ...]], types: list[str]) -> None:
    out = BytesIO()
    write_table(out, NAMES, rows)
    found = pyarrow.ipc.open_stream(out.getvalue()).read_all()
    assert found.schema.names == list(NAMES)
    assert [str(kind) for kind in found.schema.types] == types
    texts = [kind == "string" for kind in types]
    expected = [
        tuple(str(value) if is_text and value is not None else value for value, is_text in zip(row, texts, strict=True))
        for row in rows
    ]
    assert list(zip(*found.to_pydict().values(), strict=True)) == expected
