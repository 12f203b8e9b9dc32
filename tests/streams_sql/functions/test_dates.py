from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from streams_sql.function_declaration import IntervalUnit, Overload
from streams_sql.functions import dates
from streams_sql.functions.java_time.fields import DateProblem
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.native_forms import native_text
from streams_sql.functions.resolution import UnitArgument, resolve
from streams_sql.sql_types import BIGINT, DATE, INTEGER, STRING, TIMESTAMP, SqlType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY_MS = 86_400_000
UNITS = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
INTERVALS = (0, 1, -1, 25, -86_400_001, 2**31 - 1, -(2**31), None)
NUMBERS = (0, 1, -1, 19_000, 86_399_999, None)


@pytest.mark.parametrize(
    ("unit", "interval", "date", "expected"),
    [
        ("DAYS", 10, 10, 20),
        ("DAY", -5, 2, -3),
        ("HOURS", 23, 1, 1),
        ("HOUR", -1, 1, 0),
        ("HOURS", -1, 0, 0),
        ("HOURS", -25, 0, -1),
        ("MILLISECONDS", 86_400_000, 0, 1),
    ],
)
def test_dates_move_by_whole_days(unit: str, interval: int, date: int, expected: int) -> None:
    assert dates.date_add(unit, interval, date) == expected
    assert dates.date_subtract(unit, -interval, date) == expected


def test_times_go_round_midnight_and_timestamps_go_on() -> None:
    assert dates.time_add("HOURS", 2, DAY_MS - 1) == 7_199_999
    assert dates.time_subtract("SECOND", 1, 0) == DAY_MS - 1000
    assert dates.timestamp_add("MINUTES", 3, -1) == 179_999
    assert dates.timestamp_subtract("MILLISECOND", 3, 1) == -2


def test_clocks_of_zones_differ() -> None:
    summer = 1_718_001_906_123
    assert dates.convert_zone(summer, "UTC", "Europe/Paris") == summer + 7_200_000
    assert dates.convert_zone(summer, "America/New_York", "UTC") == summer + 4 * 3_600_000
    with pytest.raises(DateProblem, match="Invalid time zone: Unknown time-zone ID: Mars"):
        dates.convert_zone(0, "Mars", "UTC")


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("2021-12-01", "yyyy-MM-dd", 18_962),
        ("2021-12", "yyyy-MM", 18_962),
        ("2022", "yyyy", 18_993),
        ("01-dec-2021", "dd-MMM-yyyy", 18_962),
        ("1 December 2021", "d MMMM yyyy", 18_962),
        ("2021-12-01Fred", "yyyy-MM-dd'Fred'", 18_962),
        ("20211201 and more", "yyyyMMdd", 18_962),
        ("2021-13-31", "yyyy-MM-dd", 19_023),
        ("2021-335", "yyyy-DDD", 18_962),
        ("1-12-21", "d-M-yy", 18_962),
        ("2021-12-01 02:00 +0200", "yyyy-MM-dd HH:mm Z", 18_962),
    ],
)
def test_dates_are_read_leniently(text: str, pattern: str, expected: int) -> None:
    assert dates.parse_date(text, pattern) == expected


@pytest.mark.parametrize(
    ("text", "pattern", "reason"),
    [
        ("2021-12-01 05:40:34", "yyyy-MM-dd HH:mm:ss", "Date format contains time field."),
        ("2021-12-01", "invalid", "Illegal pattern component: i"),
        ("2021-12-01", "yyyy'", "Unterminated quote"),
        ("invalid", "yyyy-MM-dd", "Unparseable date: invalid"),
        ("", "yyyy-MM-dd", "Unparseable date: "),
        ("01-foo-2021", "dd-MMM-yyyy", "Unparseable date: 01-foo-2021"),
    ],
)
def test_what_is_no_date_is_refused(text: str, pattern: str, reason: str) -> None:
    with pytest.raises(DateProblem) as problem:
        dates.parse_date(text, pattern)
    assert str(problem.value) == f"Failed to parse date '{text}' with formatter '{pattern}': {reason}"


def test_texts_and_numbers() -> None:
    assert dates.format_date(18_962, "dd/MM/yyyy") == dates.date_to_string(18_962, "dd/MM/yyyy") == "01/12/2021"
    assert dates.string_to_date("01/12/2021", "dd/MM/yyyy") == 18_962
    assert dates.format_time(65_000, "HH_mm_ss_SSS") == "00_01_05_000"
    assert dates.parse_time("000105", "HHmmss") == 65_000
    assert dates.format_timestamp(0, "yyyy HH:mm VV") == "1970 00:00 GMT"
    assert dates.timestamp_to_string(0, "HH:mm", "+01:00") == "01:00"
    assert dates.parse_timestamp("1970 01", "yyyy HH", "Europe/Paris") == dates.string_to_timestamp("00", "HH") == 0
    with pytest.raises(
        DateProblem, match="Failed to format timestamp 0 at timeZone 'X/Y' with formatter 'HH': Unknown"
    ):
        dates.format_timestamp(0, "HH", "X/Y")


def with_units() -> list[Overload]:
    overloads = [overload for function in LIBRARY.scalars.values() for overload in function.overloads]
    return [overload for overload in overloads if IntervalUnit() in overload.parameters]


def test_native_forms_agree_for_all_units(spark: SparkSession) -> None:
    frame = spark.createDataFrame(list(product(INTERVALS, NUMBERS)), "i int, n int")
    calls = [(overload, unit + plural) for overload in with_units() for unit in UNITS for plural in ("", "S")]
    texts: list[str] = []
    for overload, unit in calls:
        assert overload.spark is not None
        value = "cast(n AS BIGINT)" if overload.result is TIMESTAMP else "n"
        texts.append(f"{native_text(overload.spark, [repr(unit), 'i', value])} AS c{len(texts)}")
    for row in frame.selectExpr("i", "n", *texts).collect():
        interval, number, *found = row
        for (overload, unit), native in zip(calls, found, strict=True):
            expected = None if None in (interval, number) else overload.reference(unit, interval, number)
            assert native == expected, (overload.reference.__name__, unit, interval, number)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("DATEADD", [UnitArgument("DAYS"), INTEGER, DATE], DATE),
        ("TIMESTAMPSUB", [UnitArgument("HOUR"), INTEGER, TIMESTAMP], TIMESTAMP),
        ("TIMESTAMPTOSTRING", [BIGINT, STRING], STRING),
        ("FORMAT_TIMESTAMP", [TIMESTAMP, STRING, STRING], STRING),
        ("UNIX_TIMESTAMP", [], BIGINT),
        ("UNIX_DATE", [DATE], INTEGER),
        ("FROM_DAYS", [INTEGER], DATE),
        ("FROM_UNIXTIME", [BIGINT], TIMESTAMP),
    ],
)
def test_signatures(name: str, arguments: list[SqlType | UnitArgument | None], result: SqlType) -> None:
    assert resolve(LIBRARY.scalars[name], arguments).result == result
