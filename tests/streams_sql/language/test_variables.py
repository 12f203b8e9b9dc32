from __future__ import annotations

import pytest

from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query, SelectColumn
from streams_sql.language.variables import substitute
from streams_sql.problem import Position, SyntaxProblem

VARIABLES = {
    "name": "orders",
    "format": "JSON",
    "quote": "it's",
    "text": "'a b'",
    "number": "-1.5",
    "evil": "1; DROP STREAM s",
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("SELECT * FROM ${name};", "SELECT * FROM orders;"),
        (
            "CREATE STREAM ${name} WITH (format='${format}', p=${number})",
            "CREATE STREAM orders WITH (format='JSON', p=-1.5)",
        ),
        ("'${quote} ${quote}'", "'it''s it''s'"),
        ("${text}", "'a b'"),
        ("'${evil}'", "'1; DROP STREAM s'"),
        ("'${unknown}' `${name}` -- ${name}\n /* ${name} */", "'${unknown}' `${name}` -- ${name}\n /* ${name} */"),
        ("$name {name}", "$name {name}"),
    ],
)
def test_values_take_the_place_of_variables(text: str, result: str) -> None:
    assert substitute(text, VARIABLES) == result


def test_a_value_stays_inside_of_its_string() -> None:
    query = parse_statement(substitute("SELECT '${v}' FROM s", {"v": "' || x || '"}))
    assert isinstance(query, Query)
    assert isinstance(query.select[0], SelectColumn)
    assert query.select[0].expression.value == "' || x || '"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT\n ${nme}", "The variable nme is not defined. Did you mean ${name}?"),
        ("SELECT\n ${zzz}", "The variable zzz is not defined. Define it first: DEFINE zzz = '…';"),
        ("SELECT\n ${evil}", "The value of the variable evil must be one name, number or quoted string"),
    ],
)
def test_a_variable_that_cannot_stand_there_is_a_problem(text: str, message: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        substitute(text, VARIABLES)
    assert message in caught.value.message
    assert caught.value.position == Position(2, 2, len(text) - text.index("$"))
