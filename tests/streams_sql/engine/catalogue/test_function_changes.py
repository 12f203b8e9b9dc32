"""Functions of users in the catalogue: who may make them, who uses them, and what queries make of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.statements.function_rules import FunctionRules
from streams_sql.functions.made_functions import python_of
from streams_sql.functions.python.code import PythonCode
from streams_sql.language.binding import bound
from streams_sql.language.parsing import parse_statement
from streams_sql.local.pipeline import Pipeline
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.pipeline import columns_of
from streams_sql.problem import SqlProblem
from tests.streams_sql.engine.catalogues import Statements

SAMPLES = "tests.streams_sql.functions.sample_functions"
RETURNS = "RETURNS BIGINT LANGUAGE PYTHON AS"
CREATE = f"CREATE FUNCTION half (a BIGINT) {RETURNS} '{SAMPLES}:given_back'"
INLINE = """CREATE FUNCTION f (a DOUBLE) RETURNS DECIMAL(4, 1) LANGUAGE PYTHON STRICT AS $$
def f(a):  # it's ${no} variable; and no end
    return a / 4
$$;"""
ALLOWED = FunctionRules((SAMPLES.rpartition(".")[0],))


def refusal(statements: Statements, text: str) -> str:
    with pytest.raises(SqlProblem) as refused:
        statements.apply(text)
    return refused.value.message


def checked(rules: FunctionRules, outcome: Outcome) -> None:
    assert outcome.function is not None
    asyncio.run(rules.check_code(outcome.function))


def test_a_function_is_made_replaced_and_dropped() -> None:
    statements = Statements()
    made = statements.apply(CREATE)
    assert (made.entity, made.action, made.message) == (("function", "HALF"), "create", "Function HALF created")
    assert "A function with the same name already exists" in refusal(statements, CREATE)
    assert not statements.apply(CREATE.replace("FUNCTION half", "FUNCTION IF NOT EXISTS half")).is_done
    statements.apply(CREATE.replace("CREATE", "CREATE OR REPLACE").replace("given_back", "failing"))
    python = python_of(statements.catalogue.functions["HALF"])
    assert python is not None
    assert python.code == PythonCode(SAMPLES, "failing")
    statements.apply("DROP FUNCTION half;")
    assert not statements.catalogue.functions
    assert "Function HALF does not exist. No function has been created." in refusal(statements, "DROP FUNCTION half;")
    assert not statements.apply("DROP FUNCTION IF EXISTS half;").is_done


def test_functions_of_the_language_stay() -> None:
    statements = Statements()
    create = f"CREATE FUNCTION ucase (a STRING) {RETURNS} 'm:f';"
    assert refusal(statements, create) == "UCASE is a function of the language: choose another name."
    assert refusal(statements, "DROP FUNCTION ucase;") == "UCASE is a function of the language, and stays."


def test_a_function_stays_while_queries_use_it_and_they_keep_the_one_that_they_were_made_with() -> None:
    statements = Statements(CREATE)
    query = statements.query("CREATE STREAM X AS SELECT K, HALF(A) AS H FROM S WHERE half(A) > 1;")
    assert query.functions == {"HALF"}
    assert "Cannot drop the function HALF: it is used by [Q_5]." in refusal(statements, "DROP FUNCTION HALF;")
    statements.apply(CREATE.replace("CREATE", "CREATE OR REPLACE").replace("given_back", "failing"))
    assert rows(query.plan, [5]) == [5]
    statements.apply("TERMINATE Q_5;")
    statements.apply("DROP FUNCTION HALF;")


def rows(plan: Any, numbers: list[Any], errors: list[Exception] | None = None) -> list[Any]:
    """The last column of what comes of records of S with these values of A, one after the other."""
    told: list[Exception] = [] if errors is None else errors
    pipeline = Pipeline(plan.node, told.append)
    (read,) = pipeline.reads
    names = columns_of(read)
    given = [
        (*[{"A": number, "K": "k", "B": str(number), "ROWTIME": 0}.get(name) for name in names], (False, 0, offset))
        for offset, number in enumerate(numbers)
    ]
    made = [row for each in given for row in pipeline.feed(0, [each])]
    place = columns_of(plan.node).index(plan.sink.schema.value[-1].name)
    return [row[place] for row in made]


@pytest.mark.parametrize(
    ("create", "query", "made"),
    [
        (CREATE, "STREAM X AS SELECT K, HALF(A) AS H FROM S", [4, 9]),
        (
            f"CREATE TABLE FUNCTION letters (t STRING) RETURNS STRING LANGUAGE PYTHON AS '{SAMPLES}:letters'",
            "STREAM X AS SELECT K, LETTERS(CONCAT(B, 'x')) AS L FROM S",
            ["4", "x", "9", "x"],
        ),
        (
            f"CREATE AGGREGATE FUNCTION spread (a BIGINT) {RETURNS} '{SAMPLES}:Spread'",
            "TABLE X AS SELECT K, SPREAD(A) AS D FROM S GROUP BY K",
            [0, 5],
        ),
        (
            INLINE,
            "STREAM X AS SELECT K, CAST(F(A) AS STRING) AS L FROM S",
            ["1.0", "2.3"],
        ),
    ],
)
def test_queries_call_functions_of_users(create: str, query: str, made: list[Any]) -> None:
    statements = Statements(create)
    plan = statements.query(f"CREATE {query};").plan
    assert rows(plan, [4, 9]) == made
    is_aggregate = "AGGREGATE" in create
    assert hosting_of(plan.node) is (Hosting.SHARDS if is_aggregate else Hosting.STATELESS)


def test_a_function_that_fails_or_gives_what_it_should_not_gives_null_and_is_told() -> None:
    for name, told in (
        ("failing", "it is not there"),
        ("or_nothing", "the function gave '4' (str), which is no BIGINT"),
    ):
        statements = Statements(CREATE.replace("given_back", name))
        errors: list[Exception] = []
        assert rows(statements.query("CREATE STREAM X AS SELECT K, HALF(A) AS H FROM S;").plan, [4], errors) == [None]
        assert [str(error) for error in errors] == [told]


def test_null_is_handed_on_unless_the_function_is_strict() -> None:
    for rule, made in (("", "nothing"), ("STRICT ", None), ("RETURNS NULL ON NULL INPUT ", None)):
        create = f"CREATE FUNCTION f (a BIGINT) RETURNS STRING LANGUAGE PYTHON {rule}AS '{SAMPLES}:or_nothing'"
        plan = Statements(create).query("CREATE STREAM X AS SELECT K, F(A) AS H FROM S;").plan
        assert rows(plan, [None]) == [made]


def test_arguments_are_those_that_were_declared() -> None:
    statements = Statements(CREATE)
    message = refusal(statements, "CREATE STREAM X AS SELECT HALF(B) FROM S;")
    assert "Function 'HALF' does not accept parameters (STRING)." in message
    assert "CAST(B AS INTEGER) would make it fit." in message
    assert "HALF(BIGINT A)" in message


def test_only_modules_that_are_allowed_are_loaded() -> None:
    made = Statements().apply(CREATE)
    checked(ALLOWED, made)
    with pytest.raises(SqlProblem, match=r"sample_functions is not among those .* sql.functions.modules: it is empty."):
        checked(FunctionRules(), made)
    with pytest.raises(SqlProblem, match=r"it has tests.streams_sql.functions.sample, os."):
        checked(FunctionRules(("tests.streams_sql.functions.sample", "os")), made)


def test_code_in_statements_is_run_only_where_that_is_switched_on() -> None:
    made = Statements().apply("CREATE FUNCTION f () RETURNS INT LANGUAGE PYTHON AS $$ f = int $$;")
    checked(FunctionRules(is_inline_allowed=True), made)
    with pytest.raises(SqlProblem, match=r"set sql.functions.inline.enabled=true"):
        checked(ALLOWED, made)


def test_a_plan_is_checked_by_the_rules_of_today() -> None:
    plan = Statements(CREATE).query("CREATE TABLE X AS SELECT K, MAX(HALF(A)) AS H FROM S GROUP BY K;").plan
    ALLOWED.check(plan)
    query = bound(parse_statement("SELECT UCASE(HALF(A)) FROM S;"), {}, Statements(CREATE).catalogue.functions)
    ALLOWED.check(query)
    with pytest.raises(SqlProblem, match="The function HALF cannot be called: The module"):
        FunctionRules().check(plan)
    with pytest.raises(SqlProblem, match="The function HALF cannot be called: The module"):
        FunctionRules().check(query)
