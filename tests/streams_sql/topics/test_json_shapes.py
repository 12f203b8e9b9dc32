"""The types of columns that JSON values have in common."""

from __future__ import annotations

from typing import Any

import pytest

from streams_sql.topics.json_shapes import DEPTH_MAX, FIELDS_MAX, fields_of, merged, shape_of, type_of


def text_of(*values: Any) -> str:
    return str(type_of(merged(map(shape_of, values))))


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, None, 2], "BIGINT"),
        ([1, 2.5], "DOUBLE"),
        ([2**63], "DOUBLE"),
        ([True, False], "BOOLEAN"),
        ([True, 1], "STRING"),
        (["a", 1], "STRING"),
        ([None], "STRING"),
        ([[], [1], [2.5]], "ARRAY<DOUBLE>"),
        ([[]], "ARRAY<STRING>"),
        ([[1, "a"]], "ARRAY<STRING>"),
        ([[1], {"a": 1}], "STRING"),
        ([{"a": 1}, {"b": [True]}, {"a": None}], "STRUCT<`A` BIGINT, `B` ARRAY<BOOLEAN>>"),
        ([{"a": {"b": 1}}, {"a": {"b": "x", "c": 1}}], "STRUCT<`A` STRUCT<`B` STRING, `C` BIGINT>>"),
        ([{"a": 1}, "text"], "STRING"),
        ([{}], "MAP<STRING, STRING>"),
        ([{"id": 1, "ID": 2, "x": 3}], "STRUCT<`id` BIGINT, `ID` BIGINT, `X` BIGINT>"),
        ([{f"k{number}": number} for number in range(FIELDS_MAX + 1)], "MAP<STRING, BIGINT>"),
    ],
)
def test_values_have_one_type(values: list[Any], type_: str) -> None:
    assert text_of(*values) == type_


def test_what_is_nested_too_deeply_is_text() -> None:
    deep: Any = 1
    for _ in range(DEPTH_MAX + 5):
        deep = [deep]
    assert text_of(deep) == "ARRAY<" * DEPTH_MAX + "STRING" + ">" * DEPTH_MAX


def test_a_field_without_a_name_is_no_column() -> None:
    shape = shape_of({"": 1, "a": 2})
    assert isinstance(shape, dict)
    assert list(fields_of(shape)) == ["A"]
