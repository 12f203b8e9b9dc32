"""Accumulators, and that the native form of an aggregate gives what its accumulator gives, on real Spark."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from streams_sql.function_declaration import (
    UNLIMITED,
    Accumulator,
    AggregateFunction,
    AggregateOverload,
    AnyDecimal,
    AnyType,
    ArrayOf,
    Undoing,
)
from streams_sql.functions.library import LIBRARY
from streams_sql.functions.native_forms import native_text
from streams_sql.functions.resolution import resolve_aggregate
from streams_sql.sql_types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Field,
    SqlType,
    Struct,
)
from streams_sql.sql_types import Decimal as DecimalType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 300
GROUPS = ("a", "b", "only nulls")
DECIMAL = DecimalType(10, 2)
SPARK_TYPES: dict[SqlType, str] = {
    INTEGER: "int",
    BIGINT: "bigint",
    DOUBLE: "double",
    DECIMAL: "decimal(10,2)",
    STRING: "string",
    BYTES: "binary",
    DATE: "int",
    TIME: "int",
    TIMESTAMP: "bigint",
    Array(INTEGER): "array<int>",
    Array(BIGINT): "array<bigint>",
    Array(DOUBLE): "array<double>",
}
# Types that are the same one in Spark share a column.
COLUMNS = {type_: re.sub(r"\W", "_", text) for type_, text in SPARK_TYPES.items()}
# The order of sets is none of their meaning.
UNORDERED = {"COLLECT_SET"}
# Of records with equal first columns, any may be left out.
RECORDS = "TOPK"
ESTIMATED = {"COUNT_DISTINCT"}
# TOPK with still more columns differs in nothing but their number, and Spark takes seconds to compile them all.
PARAMETERS_MAX = 4
# Sums of floating point numbers depend on their order.
RELATIVE_TOLERANCE = 1e-9


def made_value(type_: SqlType, choice: random.Random) -> Any:
    match type_:
        case Array(element):
            return [made_value(element, choice) for _ in range(choice.randrange(4))]
        case DecimalType():
            return Decimal(choice.randrange(-10_000, 10_000)).scaleb(-2)
    if choice.random() < 0.2:
        return None
    if type_ is DOUBLE:
        return choice.choice((0.5, -2.25, 1e9, 3.0, choice.random(), math.nan if choice.random() < 0.02 else 7.0))
    if type_ is STRING:
        return choice.choice(("", "a", "b", "ä", "😀", str(choice.randrange(100))))
    if type_ is BYTES:
        return choice.randbytes(choice.randrange(3))
    return choice.randrange(-(2**31), 2**31) if choice.random() < 0.3 else choice.randrange(20)


def made_rows() -> list[dict[str, Any]]:
    choice = random.Random(8)
    rows = []
    for number in range(ROWS):
        group = choice.choice(GROUPS)
        is_null = group == GROUPS[-1]
        values = {name: None if is_null else made_value(type_, choice) for type_, name in COLUMNS.items()}
        rows.append({"g": group, "o": number, **values})
    return rows


def concrete(pattern: Any) -> SqlType:
    match pattern:
        case AnyType():
            return STRING
        case AnyDecimal():
            return DECIMAL
        case ArrayOf(element):
            return Array(concrete(element))
    return pattern  # type: ignore[no-any-return]


@dataclass(frozen=True)
class NativeAggregate:
    function: AggregateFunction
    overload: AggregateOverload

    @property
    def types(self) -> list[SqlType]:
        return [concrete(parameter) for parameter in self.overload.parameters]

    @property
    def columns(self) -> list[str]:
        types = self.types
        return [COLUMNS[type_] for type_ in types[: len(types) - self.overload.constants]]

    @property
    def constants(self) -> list[Any]:
        types = self.types
        made = [False if type_ is BOOLEAN else 3 for type_ in types[len(types) - self.overload.constants :]]
        return [*made, UNLIMITED] if self.overload.limit_setting else made

    def text(self) -> str:
        form = self.overload.native_form(self.types)
        assert form is not None
        return native_text(form, [*self.columns, *map(str, self.constants)]).replace("{order}", "o")

    def expected(self, rows: Sequence[dict[str, Any]]) -> Any:
        result = resolve_aggregate(self.function, self.types).result
        accumulator = self.overload.new_accumulator(result, self.constants)
        arguments = [[row[name] for name in self.columns] for row in rows]
        return accumulated(accumulator, arguments)

    def __str__(self) -> str:
        return f"{self.function.name}({', '.join(map(str, self.overload.parameters))})"


def accumulated(accumulator: Accumulator, arguments: Sequence[Sequence[Any]]) -> Any:
    state = accumulator.start()
    for each in arguments:
        state = accumulator.add(state, *each)
    return accumulator.result(state)


def native_aggregates() -> Iterator[NativeAggregate]:
    for function in LIBRARY.aggregates.values():
        for overload in function.overloads:
            if overload.spark is not None and len(overload.parameters) <= PARAMETERS_MAX:
                aggregate = NativeAggregate(function, overload)
                assert resolve_aggregate(function, aggregate.types).overload is overload
                yield aggregate


def plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    return [plain(each) for each in value] if isinstance(value, list) else value


def agree(aggregate: NativeAggregate, found: Any, expected: Any) -> bool:
    name = aggregate.function.name
    if name in ESTIMATED:
        return math.isclose(found, expected, rel_tol=0.02)
    if name in UNORDERED:
        return len(found) == len(expected) and set(found) == set(expected)
    if name == RECORDS and found and hasattr(found[0], "sort_col"):
        return agree_values([row.sort_col for row in found], [record["sort_col"] for record in expected])
    return agree_values(plain(found), expected)


def agree_values(found: Any, expected: Any) -> bool:
    if isinstance(found, list):
        return len(found) == len(expected) and all(map(agree_values, found, expected))
    if isinstance(found, float):
        both_nan = math.isnan(found) and math.isnan(expected)
        return both_nan or math.isclose(found, expected, rel_tol=RELATIVE_TOLERANCE)
    return bool(found == expected)


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """Spark compiles what it runs, which for so many aggregates over so few rows takes longer than to interpret them."""
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.conf.unset("spark.sql.codegen.wholeStage")
    spark.conf.unset("spark.sql.codegen.factoryMode")


def test_native_forms_agree_with_their_accumulators(interpreted: SparkSession) -> None:
    from pyspark.sql.functions import expr  # Spark takes a second, which other tests need not wait

    rows = made_rows()
    columns_of_values = {COLUMNS[type_]: text for type_, text in SPARK_TYPES.items()}
    schema = "g string, o bigint, " + ", ".join(f"{name} {text}" for name, text in columns_of_values.items())
    frame = interpreted.createDataFrame([tuple(row.values()) for row in rows], schema)
    aggregates = list({aggregate.text(): aggregate for aggregate in native_aggregates()}.values())
    columns = [expr(aggregate.text()).alias(f"a{number}") for number, aggregate in enumerate(aggregates)]
    found = {row["g"]: row for row in frame.repartition(2).groupBy("g").agg(*columns).collect()}
    differences = []
    for group in GROUPS:
        members = [row for row in rows if row["g"] == group]
        for number, aggregate in enumerate(aggregates):
            native, expected = found[group][f"a{number}"], aggregate.expected(members)
            if not agree(aggregate, native, expected):
                differences.append(f"{aggregate} of {group}: {native!r} in Spark, {expected!r} by the accumulator")
    assert not differences, "\n".join(differences)


def made(name: str, *types: SqlType, constants: Sequence[Any] = ()) -> Accumulator:
    found = resolve_aggregate(LIBRARY.aggregates[name], types)
    return found.overload.new_accumulator(found.result, constants)


@pytest.mark.parametrize(
    ("accumulator", "values", "expected"),
    [
        (made("SUM", INTEGER), [2**31 - 1, None, 1], -(2**31)),
        (made("SUM", BIGINT), [2**63 - 1, 1], -(2**63)),
        (made("SUM", DECIMAL), [Decimal("1.10"), Decimal("2.25")], Decimal("3.35")),
        (made("SUM", DecimalType(4, 2)), [Decimal("99.99"), None, Decimal("21.01")], Decimal("121.00")),
        (made("SUM", DecimalType(38, 0)), [Decimal(10**37), Decimal(1)], Decimal(10**37 + 1)),
        (made("AVG", DECIMAL), [Decimal("0.10"), None, Decimal("0.10"), Decimal("0.11")], Decimal("0.103333")),
        (made("AVG", DECIMAL), [Decimal("-0.01"), Decimal("-0.02")], Decimal("-0.015000")),
        (made("AVG", DecimalType(38, 0)), [Decimal(10**38 - 1), Decimal(10**38 - 3)], Decimal(10**38 - 2)),
        (made("AVG", DECIMAL), [None], Decimal(0)),
        (
            made("TOPK", DECIMAL, INTEGER, constants=(2,)),
            [*map(Decimal, ("9.50", "10.25", "-1"))],
            [Decimal("10.25"), Decimal("9.5")],
        ),
        (made("MAX", DECIMAL), [Decimal("9.50"), Decimal("10.25")], Decimal("10.25")),
        (made("AVG", INTEGER), [2**31 - 1, 1], -(2**30)),
        (made("AVG", DOUBLE), [None], 0.0),
        (made("MIN", DOUBLE), [math.nan, 2.0], 2.0),
        (made("COUNT", STRING), ["a", None, "a"], 2),
        (made("LATEST_BY_OFFSET", STRING), ["a", "b", None], "b"),
        (made("LATEST_BY_OFFSET", STRING, BOOLEAN, constants=(False,)), ["a", None], None),
        (made("LATEST_BY_OFFSET", STRING, INTEGER, constants=(2,)), ["a", "b", None, "c"], ["b", "c"]),
        (made("EARLIEST_BY_OFFSET", STRING), [None, "a", "b"], "a"),
        (made("EARLIEST_BY_OFFSET", STRING, BOOLEAN, constants=(False,)), [None, "a"], None),
        (made("EARLIEST_BY_OFFSET", STRING, INTEGER, BOOLEAN, constants=(2, False)), [None, "a", "b"], [None, "a"]),
        (made("COLLECT_LIST", STRING, constants=(2,)), ["a", None, "b"], ["a", None]),
        (made("COLLECT_SET", STRING, constants=(2,)), ["a", "a", None, "b"], ["a", None]),
        (made("COLLECT_SET", Array(INTEGER), constants=(9,)), [[1], [2], [1]], [[1], [2]]),
        (made("TOPK", INTEGER, INTEGER, constants=(2,)), [1, 3, None, 2, 3], [3, 3]),
        (made("TOPKDISTINCT", INTEGER, INTEGER, constants=(2,)), [1, 3, None, 2, 3], [3, 2]),
        (made("ATTR", STRING), ["a", "a"], "a"),
        (made("ATTR", STRING), ["a", None], None),
        (made("HISTOGRAM", STRING), ["a", "b", "a"], {"a": 2, "b": 1}),
        (made("STDDEV_SAMP", INTEGER), [2, 4, None], 2.0),
        (made("STDDEV_SAMPLE", INTEGER), [2, 4, 6], 2.0),
        (made("STDDEV_SAMPLE", INTEGER), [2], 0.0),
        (made("SUM_LIST", Array(INTEGER)), [[1, None], None, [2]], 3),
    ],
)
def test_values_are_accumulated(accumulator: Accumulator, values: list[Any], expected: Any) -> None:
    assert accumulated(accumulator, [[value] for value in values]) == expected


@pytest.mark.parametrize(
    ("name", "type_", "result"),
    [
        ("SUM", DecimalType(4, 2), DecimalType(38, 2)),
        ("SUM", DecimalType(38, 10), DecimalType(38, 10)),
        ("AVG", DecimalType(10, 2), DecimalType(14, 6)),
        ("AVG", DecimalType(36, 2), DecimalType(38, 4)),
        ("AVG", DecimalType(38, 2), DecimalType(38, 2)),
        ("MIN", DecimalType(4, 2), DecimalType(4, 2)),
    ],
)
def test_aggregates_of_decimals_have_types_that_hold_them(name: str, type_: SqlType, result: SqlType) -> None:
    assert resolve_aggregate(LIBRARY.aggregates[name], [type_]).result == result


def test_a_sum_that_its_type_cannot_hold_is_an_error_until_it_fits_again() -> None:
    total = made("SUM", DecimalType(38, 0))
    largest = Decimal(10**38 - 1)
    state = total.add(total.add(total.start(), largest), Decimal(1))
    with pytest.raises(ValueError, match="Numeric field overflow"):
        total.result(state)
    assert isinstance(total, Undoing)
    assert total.result(total.undo(state, Decimal(1))) == largest
    assert total.result(total.add(state, Decimal(-2))) == Decimal(10**38 - 2)


def test_sums_of_long_decimals_are_left_to_the_accumulator() -> None:
    for name in ("SUM", "AVG"):
        overload = resolve_aggregate(LIBRARY.aggregates[name], [DecimalType(18, 2)]).overload
        assert overload.native_form([DecimalType(18, 2)]) is not None
        assert overload.native_form([DecimalType(19, 2)]) is None


def test_records_are_counted_whatever_is_in_them() -> None:
    assert accumulated(made("COUNT"), [[], []]) == 2


def test_two_columns_correlate() -> None:
    assert accumulated(made("CORRELATION", INTEGER, INTEGER), [[1, 2], [2, 4], [None, 9], [3, 6]]) == 1.0
    assert math.isnan(accumulated(made("CORRELATION", DOUBLE, DOUBLE), [[1.0, 2.0]]))


def test_the_records_of_the_greatest_values_are_kept() -> None:
    top = resolve_aggregate(LIBRARY.aggregates["TOPK"], [INTEGER, STRING, INTEGER])
    assert top.result == Array(Struct((Field("sort_col", INTEGER), Field("col0", STRING))))
    found = accumulated(
        top.overload.new_accumulator(top.result, (2,)), [[1, "a"], [5, "b"], [None, "c"], [5, "d"], [5, "e"]]
    )
    assert found == [{"sort_col": 5, "col0": "b"}, {"sort_col": 5, "col0": "d"}]


@pytest.mark.parametrize("count", [10, 1024, 1025, 30_000])
def test_different_values_are_counted(count: int) -> None:
    found = accumulated(made("COUNT_DISTINCT", BIGINT), [[value % count] for value in range(count + 10)])
    assert found == count if count <= 1024 else math.isclose(found, count, rel_tol=0.02)


def test_a_histogram_is_bounded() -> None:
    values = [*map(str, range(1001)), "0", "1000"]
    found = accumulated(made("HISTOGRAM", STRING), [[value] for value in values])
    assert len(found) == 1000
    assert found["0"] == 2


@pytest.mark.parametrize(("name", "types"), [("TOPK", [INTEGER, INTEGER]), ("LATEST_BY_OFFSET", [STRING, INTEGER])])
def test_no_values_at_all_cannot_be_asked_for(name: str, types: list[SqlType]) -> None:
    with pytest.raises(ValueError, match="must be 1 or greater, not 0"):
        made(name, *types, constants=(0,))
