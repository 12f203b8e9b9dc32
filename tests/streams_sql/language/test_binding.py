"""Created types and functions are put into statements that were read without them."""

from __future__ import annotations

import pytest

from streams_sql.analysis.type_names import known_type
from streams_sql.functions.library import LIBRARY
from streams_sql.language.binding import bound
from streams_sql.language.expressions import FunctionCall
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource, Query, SelectColumn
from streams_sql.problem import SqlProblem
from streams_sql.sql_types import INTEGER, STRING, Array, Field, Map, Struct

TYPES = {"N": INTEGER}


def test_types_are_bound_wherever_they_are_inside_of_others() -> None:
    statement = parse_statement("CREATE STREAM s (a MAP<STRING, ARRAY<n>>, b STRUCT<f n>);")
    found = bound(statement, TYPES, {})
    assert isinstance(found, CreateSource)
    assert [column.type for column in found.columns] == [Map(STRING, Array(INTEGER)), Struct((Field("F", INTEGER),))]


def test_a_type_that_does_not_exist_is_reported_with_those_that_do() -> None:
    statement = bound(parse_statement("CREATE STREAM s (a plaec);"), {"PLACE": INTEGER}, {})
    assert isinstance(statement, CreateSource)
    with pytest.raises(SqlProblem, match="Did you mean PLACE"):
        known_type(statement.columns[0].type)


def test_functions_are_bound_to_their_calls() -> None:
    function = LIBRARY.find("UCASE")
    assert function is not None
    found = bound(parse_statement("SELECT half(UCASE(a)), COUNT(*) FROM s;"), {}, {"HALF": function, "COUNT": function})
    assert isinstance(found, Query)
    calls = [item.expression for item in found.select if isinstance(item, SelectColumn)]
    assert [call.made for call in calls if isinstance(call, FunctionCall)] == [function, None]


def test_what_is_shared_stays_shared_and_what_has_no_names_stays_itself() -> None:
    text = "WITH x AS (SELECT CAST(a AS n) AS b FROM s) SELECT * FROM x JOIN x AS y ON x.b = y.b;"
    found = bound(parse_statement(text), TYPES, {})
    assert isinstance(found, Query)
    assert found.source.query is not None
    assert found.source.query is found.joins[0].right.query
    plain = parse_statement("SELECT a FROM s;")
    assert bound(plain, TYPES, {}) is plain
