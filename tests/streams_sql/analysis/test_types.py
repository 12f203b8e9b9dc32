"""The types of expressions, and the casts that they get."""

from __future__ import annotations

import pytest

from streams_sql.plan.nodes import Filter, Project
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from tests.streams_sql.analysis.catalogues import EVERYTHING, Sources, planned, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(EVERYTHING)


TYPES = {
    "TRUE": "BOOLEAN",
    "1": "INTEGER",
    "2147483648": "BIGINT",
    "-2147483648": "INTEGER",
    "-9223372036854775808": "BIGINT",
    "1.50": "DECIMAL(3, 2)",
    "0.05": "DECIMAL(3, 2)",
    "1E3": "DOUBLE",
    "'x'": "STRING",
    "i + 1": "INTEGER",
    "i * l": "BIGINT",
    "l / d": "DOUBLE",
    "s + 'x'": "STRING",
    "s || 'x'": "STRING",
    "e + f": "DECIMAL(8, 2)",
    "e - i": "DECIMAL(13, 2)",
    "e * f": "DECIMAL(11, 3)",
    "e / f": "DECIMAL(12, 9)",
    "e % f": "DECIMAL(4, 2)",
    "l * e": "DECIMAL(24, 2)",
    "e + d": "DOUBLE",
    "-e": "DECIMAL(4, 2)",
    "i < l AND NOT b": "BOOLEAN",
    "a = '2020-01-01'": "BOOLEAN",
    "m BETWEEN '2020-01-01T00:00:00' AND a": "BOOLEAN",
    "s NOT LIKE 'a%'": "BOOLEAN",
    "i IN (1, '2', 3.5)": "BOOLEAN",
    "st IS NULL": "BOOLEAN",
    "ai = ai": "BOOLEAN",
    "CAST(i AS STRING)": "STRING",
    "CAST(ai AS ARRAY<STRING>)": "ARRAY<STRING>",
    "CAST(NULL AS MAP<STRING, INT>)": "MAP<STRING, INTEGER>",
    "CASE WHEN b THEN 1 ELSE 2147483648 END": "BIGINT",
    "CASE WHEN b THEN 1.5 WHEN i > 1 THEN NULL END": "DECIMAL(2, 1)",
    "ai[1]": "INTEGER",
    "ms['a']": "BIGINT",
    "st->`y`->z": "STRING",
    "h[1]->value": "BYTES",
    "ARRAY[1, 2147483648, NULL]": "ARRAY<BIGINT>",
    "ARRAY[1, '2.5']": "ARRAY<DECIMAL(11, 1)>",
    "ARRAY[STRUCT(a := 1), STRUCT(b := 'x')]": "ARRAY<STRUCT<`B` STRING, `A` INTEGER>>",
    "MAP('a' := 1, 'b' := 1.5)": "MAP<STRING, DECIMAL(11, 1)>",
    "STRUCT(x := i, z := ARRAY[s])": "STRUCT<`X` INTEGER, `Z` ARRAY<STRING>>",
    "ROWTIME": "BIGINT",
    "ROWPARTITION": "INTEGER",
    "LEN(s) + 1": "INTEGER",
}


@pytest.mark.parametrize(("expression", "wanted"), TYPES.items(), ids=TYPES)
def test_expressions_have_the_types_of_ksqldb(catalogue: Sources, expression: str, wanted: str) -> None:
    plan = planned(f"CREATE STREAM made AS SELECT k, {expression} AS found FROM everything", catalogue)
    assert [str(column.type) for column in plan.sink.schema.value] == [wanted]


CASTS = {
    "i + l = 1": "((CAST(`I` AS BIGINT) + `L`) = CAST(1 AS BIGINT))",
    "l = 1": "(`L` = CAST(1 AS BIGINT))",
    "e > 1": "(`E` > CAST(1 AS DECIMAL(10, 0)))",
    "e > d": "(CAST(`E` AS DOUBLE) > `D`)",
    "'2020-01-01' < a": "(CAST('2020-01-01' AS DATE) < `A`)",
    "a >= m": "(CAST(`A` AS TIMESTAMP) >= `M`)",
    "i NOT IN (1, l)": "(NOT (CAST(`I` AS BIGINT) IN (CAST(1 AS BIGINT), `L`)))",
    "i NOT BETWEEN 1 AND 2": "(NOT ((`I` >= 1) AND (`I` <= 2)))",
    "ai[l] IS NOT NULL": "(`AI`[CAST(`L` AS INTEGER)] IS NOT NULL)",
    "CASE i WHEN 1 THEN b ELSE NULL END": "CASE WHEN (`I` = 1) THEN `B` ELSE NULL END",
    "ROWTIME > '2020-02-13T12:00'": "(`ROWTIME` > 1581595200000)",
    "ROWTIME BETWEEN '1970-01-01T00:00:00.5+01:00' AND '1971'": (
        "((`ROWTIME` >= CAST(-3599500 AS BIGINT)) AND (`ROWTIME` <= 31536000000))"
    ),
}


@pytest.mark.parametrize(("condition", "wanted"), CASTS.items(), ids=CASTS)
def test_casts_are_put_in(catalogue: Sources, condition: str, wanted: str) -> None:
    plan = planned(f"CREATE STREAM made AS SELECT * FROM everything WHERE {condition}", catalogue)
    assert isinstance(plan.node, Project)
    assert isinstance(plan.node.input, Filter)
    assert expression_text(plan.node.input.condition) == wanted


WRONG = {
    "nosuch": "SELECT column 'NOSUCH' cannot be resolved.",
    'i = "OPEN"': "SELECT column 'OPEN' cannot be resolved. Double quotes stand around names; a text is written 'OPEN'.",
    "i = `OPEN`": "SELECT column 'OPEN' cannot be resolved. There are",
    "everythin.i": "'EVERYTHIN' is not a valid stream/table name or alias. Did you mean EVERYTHING?",
    "i + b": "Error processing expression: (I + B). Unsupported arithmetic types. INTEGER BOOLEAN",
    "i + NULL": "Arithmetic on types INTEGER and null are not supported.",
    "i = 'z' || 'y'": "Cannot compare I (INTEGER) to ('z' || 'y') (STRING) with EQUAL.",
    "i = UCASE('z')": "with EQUAL.",
    "b = 'z'": "Cannot compare B (BOOLEAN) to 'z' (STRING) with EQUAL.",
    "b = 'true'": "CAST('true' AS BOOLEAN) would make it the same type.",
    "s > 1": "Cannot compare S (STRING) to 1 (INTEGER) with GREATER_THAN. CAST(1 AS STRING) would make it the same type.",
    "ai < ai": "Cannot compare AI (ARRAY<INTEGER>) to AI (ARRAY<INTEGER>) with LESS_THAN.",
    "i = NULL": "Comparison with NULL not supported: INTEGER = NULL",
    "i IN (1, TRUE)": "Invalid Predicate: operator does not exist: INTEGER = BOOLEAN (true)",
    "i IN (1, 'x')": 'Invalid Predicate: invalid input syntax for type INTEGER: "x".',
    "i LIKE 'x'": "LIKE compares texts, but I is INTEGER.",
    "NOT i": "A condition is expected, but I is INTEGER.",
    "-s": "The sign - goes before numbers only, but not before S (STRING).",
    "CAST(s AS ARRAY<INT>)": "Cast of STRING to ARRAY<INTEGER> is not supported",
    "CAST(i AS nosuch)": "Cannot resolve unknown type: NOSUCH.",
    "CAST(i AS DECIMAL(39, 1))": "DECIMAL precision must be >= 1 and at most 38: DECIMAL(39, 1).",
    "CASE WHEN b THEN 1 ELSE 'x' END": "Invalid Case expression. Type for all 'THEN' clauses should be the same",
    "CASE WHEN i THEN 1 END": "WHEN operand type should be boolean.\nType for 'I' is INTEGER",
    "CASE WHEN b THEN NULL END": "Invalid Case expression. All case branches have NULL type",
    "st[1]": "Subscript expression (ST[1]) do not apply to STRUCT",
    "ai[b]": "AI has INTEGER in its brackets, but B is BOOLEAN.",
    "st->xx": "Could not find field 'XX' in 'ST'. Did you mean X?",
    "i->x": "Expected STRUCT type, got: I is INTEGER.",
    "ARRAY[]": "Array constructor cannot be empty.",
    "ARRAY[NULL]": "Cannot construct an array with all NULL elements",
    "MAP('a' := NULL)": "Cannot construct a map with all NULL values",
    "STRUCT(a := 1, a := 2)": "Duplicate field names found in STRUCT",
    "NULL": "Can't infer a type of null",
    "LENN(s)": "Can't find any functions with the name 'LENN'. Did you mean LEN?",
    "LEN(i)": "Function 'len' does not accept parameters (INTEGER).",
    "LEN(*)": "Function 'len' does not accept parameters ().",
    "LEN(COUNT(*))": "GROUP BY",
}


@pytest.mark.parametrize(("expression", "message"), WRONG.items(), ids=WRONG)
def test_what_has_no_type_is_refused(catalogue: Sources, expression: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE STREAM made AS SELECT k, {expression} AS found FROM everything", catalogue)
    assert message in caught.value.message


HINTS = {
    "zzz": "There are K, B, I, L,",
    "st->zzz": "There are X, y.",
    "s - i": "STRING INTEGER. CAST(S AS INTEGER) would make it a number.",
    "i + s": "INTEGER STRING. CAST(I AS STRING) would put texts together.",
    "s || l": "CAST(L AS STRING) would put texts together.",
    "m + 1": "TIMESTAMP INTEGER. TIMESTAMPADD, DATEADD and TIMEADD add to times",
    "LEN(i)": "CAST(I AS STRING) would make it fit.",
    "SUBSTRING(s, l)": "CAST(L AS INTEGER) would make it fit.",
    "ABS(s)": "CAST(S AS INTEGER) would make it fit.",
}


@pytest.mark.parametrize(("expression", "hint"), HINTS.items(), ids=HINTS)
def test_a_problem_says_what_would_be_right(catalogue: Sources, expression: str, hint: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE STREAM made AS SELECT k, {expression} AS found FROM everything", catalogue)
    assert hint in caught.value.message
    assert caught.value.position is not None


def test_an_aggregate_says_what_would_be_right(catalogue: Sources) -> None:
    with pytest.raises(SqlProblem, match=r"CAST\(S AS INTEGER\) would make it fit."):
        planned("CREATE TABLE made AS SELECT k, SUM(s) FROM everything GROUP BY k", catalogue)


def test_no_hint_loses_the_fraction_of_a_decimal(catalogue: Sources) -> None:
    with pytest.raises(SqlProblem, match=r"CAST\(E AS DOUBLE\) would make it fit."):
        planned("CREATE TABLE made AS SELECT k, STDDEV_SAMP(e) FROM everything GROUP BY k", catalogue)


def test_a_problem_knows_its_place(catalogue: Sources) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned("CREATE STREAM made AS\n  SELECT k, i + nosuch AS found FROM everything", catalogue)
    position = caught.value.position
    assert position is not None
    assert (position.line, position.column, position.length) == (2, 17, 6)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("i", "Type error in WHERE expression: Should evaluate to boolean but is I (INTEGER) instead."),
        ("i > 'x'", "Error in WHERE expression: Cannot compare I (INTEGER) to 'x' (STRING) with GREATER_THAN."),
        ("COUNT(*) > 1", "Aggregate functions cannot be used here: COUNT"),
        ("ROWTIME > 'soon'", "Failed to parse timestamp 'soon'"),
    ],
)
def test_where_needs_a_condition(catalogue: Sources, condition: str, message: str) -> None:
    with pytest.raises(SqlProblem) as caught:
        planned(f"CREATE STREAM made AS SELECT * FROM everything WHERE {condition}", catalogue)
    assert message in caught.value.message
