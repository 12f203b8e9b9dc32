"""NULL handling and functions of no other group."""

from __future__ import annotations

from typing import Any

import pytest

from streams_sql.sql_types import DOUBLE, INTEGER, STRING, SqlType
from tests.streams_sql.functions.calling import call

BERLIN = (52.52, 13.405)
PARIS = (48.8566, 2.3522)


@pytest.mark.parametrize(
    ("name", "arguments", "types", "expected"),
    [
        ("COALESCE", (None, None, 3), (INTEGER, None, INTEGER), 3),
        ("COALESCE", (None,), (STRING,), None),
        ("IFNULL", (None, "x"), (STRING, STRING), "x"),
        ("IFNULL", ("y", "x"), (STRING, STRING), "y"),
        ("NULLIF", (1, 1), (INTEGER, INTEGER), None),
        ("NULLIF", (1, None), (INTEGER, None), 1),
        ("AS_VALUE", (None,), (STRING,), None),
        ("AS_VALUE", ([1],), None, [1]),
        ("GEO_DISTANCE", (*BERLIN, None, 1.0), (DOUBLE,) * 4, None),
    ],
)
def test_result(name: str, arguments: tuple[Any, ...], types: tuple[SqlType, ...] | None, expected: Any) -> None:
    assert call(name, *arguments, types=types) == expected


@pytest.mark.parametrize(("units", "expected"), [((), 877.46), (("Km",), 877.46), ((" MILES ",), 545.27)])
def test_distance_of_two_towns(units: tuple[str, ...], expected: float) -> None:
    assert call("GEO_DISTANCE", *BERLIN, *PARIS, *units) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "arguments", [(91.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, -181.0), (0.0, 0.0, 0.0, 0.0, "parsec")], ids=str
)
def test_no_point_and_no_unit_are_errors(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"between|parsec"):
        call("GEO_DISTANCE", *arguments)
