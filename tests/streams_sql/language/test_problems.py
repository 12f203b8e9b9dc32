"""What is no statement: the message, and the place it points at."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from streams_sql.language.conversion import Conversion
from streams_sql.language.expressions import Binary
from streams_sql.language.parsing import BARE_CHARACTERS_MAX, STATEMENT_CHARACTERS_MAX, parse_statement
from streams_sql.language.statements import Query, SelectColumn
from streams_sql.problem import Lines, Position, SqlProblem, SyntaxProblem, shown

MESSAGE_CHARACTERS_MAX = 300
NOT_YET = "is not supported yet."


def problem_of(text: str) -> SqlProblem:
    with pytest.raises(SyntaxProblem) as caught:
        parse_statement(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "marked", "message"),
    [
        # words that are not expected, and the ones that are
        ("SELEC a FROM s", "SELEC", "Unknown statement 'SELEC'. Did you mean SELECT?"),
        ("foo", "foo", "Expected SELECT, WITH, CREATE, INSERT"),
        ("SELECT a FORM s", "FORM", "Unexpected 's'. Expected ',' or FROM. Did you mean FROM instead of FORM?"),
        ("SELECT a FROM s WERE a", "WERE", "Did you mean WHERE instead of WERE?"),
        ("SELECT a FROM s GRUOP BY a", "GRUOP", "Did you mean GROUP BY instead of GRUOP?"),
        ("SELECT a FROM s EMIT CHANGS", "CHANGS", "Expected CHANGES or FINAL. Did you mean CHANGES"),
        ("SHOW TOPCS", "TOPCS", "Did you mean TOPICS instead of TOPCS?"),
        ("SELECT FROM s", "FROM", "Expected DISTINCT, '*' or an expression."),
        ("SELECT a, FROM s", "FROM", "Expected '*' or an expression."),
        ("SELECT a\nFROM s\n  WHERE;", ";", "Unexpected ';'. Expected an expression."),
        ("SELECT a FROM s WHERE", None, "Unexpected end of the statement. Expected an expression."),
        ("SELECT *", None, "Unexpected end of the statement. Expected"),
        ("SELECT a b c FROM s", "c", "Expected ',' or FROM."),
        ("SELECT a FROM s t u", "u", "or the end of the statement."),
        ("SELECT a FROM s LIMIT 1 WHERE b", "WHERE", "Expected OFFSET or the end of the statement."),
        ("SELECT a FROM s HAVING a GROUP BY b", "GROUP", "Expected"),
        ("CREATE STREAM from (a INT)", "from", "FROM is a reserved word: to use it as a name, write `FROM`."),
        ("SELECT a, at FROM s", "at", "AT is a reserved word: to use it as a name, write `AT`."),
        ("SELECT a FROM s WHERE size = 1", "size", "SIZE is a reserved word: to use it as a name, write `SIZE`."),
        ('SET "a" = "b"', '"a"', "Double quotes stand around names; a string is written 'a'."),
        ('CREATE STREAM s WITH (kafka_topic="a")', '"a"', "Double quotes stand around names; a string is written 'a'."),
        ("CREATE STREAM s (a INT,)", ")", "Expected a name."),
        ("CREATE STREAM s ()", ")", "Expected a name."),
        ("CREATE STREAM s (a)", ")", "a type"),
        ("CREATE STREAM s (a INT) AS SELECT * FROM t", "AS", "the end of the statement"),
        ("CREATE SOURCE STREAM s AS SELECT * FROM t", "AS", "the end of the statement"),
        ("SHOW PROPERTIES EXTENDED", "EXTENDED", "the end of the statement"),
        ("SELECT a FROM s INNER OUTER JOIN t ON a = b", "OUTER", "Expected JOIN."),
        ("SELECT a FROM s JOIN t", None, "ON."),
        ("SELECT a FROM s WINDOW TUMBLING (1 HOUR)", "1", "Expected SIZE."),
        ("SELECT a FROM s WINDOW TUMBLING (SIZE 1 WEEK)", "WEEK", "or DAYS."),
        ("SELECT a FROM s WINDOW HOPPING (SIZE 1 DAY)", ")", "Expected ','."),
        ("DEFINE `a` = 'b'", "`a`", "Expected a name."),
        ("SET a = 'b'", "a", "Expected a string."),
        # expressions
        ("SELECT 1 + FROM s", "FROM", "Expected an expression."),
        ("SELECT a = b = c FROM s", "= c", "Unexpected '='."),
        ("SELECT a + NOT b FROM s", "NOT", "Expected an expression."),
        ("SELECT a NOT NULL FROM s", "NULL", "Expected BETWEEN, IN or LIKE."),
        ("SELECT a IS 1 FROM s", "1", "Expected NULL or DISTINCT."),
        ("SELECT a IN () FROM s", ")", "Expected an expression."),
        ("SELECT a BETWEEN 1 2 FROM s", "2", "Expected AND."),
        ("SELECT CASE END FROM s", "END", "Expected"),
        ("SELECT CASE WHEN a 1 END FROM s", "1", "THEN"),
        ("SELECT CASE a END FROM s", "END", "Expected WHEN."),
        ("SELECT CAST(a, INT) FROM s", ",", "AS"),
        ("SELECT f(a,) FROM s", ")", "Expected an expression."),
        ("SELECT f(ALL a) FROM s", "ALL", "Expected '*' or an expression."),
        ("SELECT f(DISTINCT a) FROM s", "DISTINCT", "Expected '*' or an expression."),
        ("SELECT f(a, x => x, 1) FROM s", "1", "Only lambdas may follow the lambdas of a function."),
        ("SELECT x => x FROM s", "=>", "Unexpected '=>'."),
        ("SELECT a, (b, c) FROM s", "(", "A list in parentheses cannot be used here."),
        ("SELECT a << 1 FROM s", "a", "BitwiseLeftShift cannot be used here."),
        ("SELECT a AT TIME ZONE 'UTC' FROM s", "a", "AT TIME ZONE cannot be used here."),
        ("SELECT a.b.c FROM s", ".c", "Unexpected '.'."),
        ("SELECT a + b->* FROM s", "->", "Unexpected '->'."),
        ("SELECT a FROM s WHERE a->*", "->", "Unexpected '->'."),
        ("SELECT 'a' 'b' FROM s", "'b'", "Unexpected ''b''."),
        ("SELECT DATE '2020-01-01' FROM s", "'2020-01-01'", "Unexpected"),
        ("SELECT a FROM s ORDER BY a NULLS b", "b", "Expected FIRST or LAST."),
        ("SELECT a FROM s ORDER BY a DSC", "DSC", "Did you mean DESC instead of DSC?"),
        ("SELECT a FROM s LIMIT 1 OFFSET -1", "-", "OFFSET must be an integer that is not negative. Got: -1"),
        ("SELECT a FROM s GROUP BY ()", None, "at least one expression"),
        ("SELECT a FROM s WHERE a LIKE 'b' ESCAPE '!!'", "'!!'", "Expected single character escape but got: !!"),
        # characters and numbers
        ("SELECT 0xFF FROM s", "0", "Invalid numeric literal: 0xFF"),
        ("SELECT 1e FROM s", "1e", "Invalid numeric literal: 1e"),
        ("SELECT 9223372036854775808 FROM s", "9223372036854775808", "Invalid numeric literal: 9223372036854775808"),
        (f"SELECT {'9' * 5000} FROM s", "9" * 5000, "Invalid numeric literal: 999"),
        ("SELECT 1e999 FROM s", "1e999", "Number overflows DOUBLE: 1e999"),
        ("SELECT .5.5 FROM s", ".5.5", "'*' or an expression."),
        ("SELECT é FROM s", "é", "'é' is not a word of the language"),
        ("SELECT N'a' FROM s", "N'a'", "Unexpected 'N'a''."),
        ("SELECT `` FROM s", "``", "A name must not be empty."),
        ("SELECT a {# gone? #} FROM s", "{#", "Unexpected '{#'."),
        ("SELECT ${a} FROM s", "${a}", "Unexpected '${a}'."),
        ("SELECT @a FROM s", "@", "Unexpected '@'."),
        ("SELECT a ! FROM s", "!", "Unexpected '!'."),
        ("SELECT 'a FROM s", "'", "The string that begins here is not finished: ' is missing."),
        ("SELECT\n `a FROM s", "`", "The quoted name that begins here is not finished: ` is missing."),
        ("SELECT a /* FROM s", "/*", "The comment that begins here is not finished: */ is missing."),
        ("SELECT * FROM my.topic", "my", "Quote the name of a topic that has a '.': `my.…`."),
        (
            "SELECT * FROM `a b`",
            "`a b`",
            "Source names may only contain alphanumeric values, '_' or '-', and those of topics '.'",
        ),
        ("SELECT * FROM s TAIL 3 SINCE 1 DAY", "SINCE", "SINCE cannot stand here: a range is PARTITION n, then"),
        ("SELECT * FROM s UNTIL OFFSET x", "x", "Unexpected 'x'. Expected a number."),
        # what the words say
        (
            "CREATE STREAM `a.b` (a INT)",
            "`a.b`",
            "Illegal argument at 1:15. Source names may only contain alphanumeric values",
        ),
        ("CREATE TABLE t (a INT KEY)", "a", "Column `A` is a 'KEY' column: please use 'PRIMARY KEY' for tables."),
        (
            "CREATE STREAM t (a INT PRIMARY KEY)",
            "a",
            "Column `A` is a 'PRIMARY KEY' column: please use 'KEY' for streams.",
        ),
        ("CREATE STREAM s (a STRUCT<b INT, b INT>)", "b INT>", "Duplicate field names found in STRUCT: B"),
        ("CREATE STREAM s WITH (a=1, A=2)", "A=2", "The property A is given twice."),
        ("CREATE STREAM s WITH (a=(1))", "(1)", "Only a literal may stand here"),
        ("CREATE STREAM s WITH (a=b)", "b", "Only a literal may stand here"),
        (
            "CREATE STREAM s AS SELECT * FROM t LIMIT 1",
            "1",
            "CREATE STREAM AS SELECT statements don't support LIMIT clause.",
        ),
        ("SELECT a FROM s LIMIT -1", "-", "LIMIT must be an integer that is not negative. Got: -1"),
        (f"PRINT a LIMIT {'9' * 5000}", "9" * 5000, "LIMIT must be an integer that is not negative. Got: 999"),
        ("PRINT a LIMIT 1.5", "1.5", "LIMIT must be an integer that is not negative. Got: 1.5"),
        (f"SELECT a FROM s WINDOW SESSION ({2**62} DAYS)", str(2**62), "The span of time is too long"),
        # what other halves of the language bring
        ("INSERT INTO s VALUES (1), 2", "2", "'('"),
        ("CREATE TYPE varchar AS INT", "varchar", "VARCHAR is a type of the language: choose another name."),
        ("CREATE SOURCE CONNECTOR a WITH (b=c)", "c", "Only a literal may stand here"),
        ("CREATE SINK CONNECTOR a WITH (b='1', b='2')", "b", "The property b is given twice."),
        ("ALTER STREAM s DROP a", "DROP", "Expected ADD."),
        ("ASSERT SCHEMA TIMEOUT 1 SECOND", "TIMEOUT", "ASSERT SCHEMA statements much include a subject name or an id"),
        ("RUN SCRIPT 'a'", "RUN", f"RUN {NOT_YET}"),
        (
            "SELECT a FROM s WHERE a IN (SELECT b FROM t EMIT CHANGES)",
            "EMIT",
            "EMIT stands at the end of the whole query",
        ),
        ("SELECT a FROM s WHERE EXISTS (b)", "b", "Expected WITH or SELECT"),
        ("SELECT a FROM s UNION SELECT b FROM t UNION ALL SELECT c FROM u", "ALL", "UNION and UNION ALL are mixed"),
        ("SELECT a FROM s EXCEPT SELECT b FROM t", "EXCEPT", f"EXCEPT SELECT {NOT_YET}"),
        # queries in queries
        (
            "WITH x AS (SELECT a FROM s), x AS (SELECT a FROM s) SELECT 1 FROM y",
            "x AS",
            "gives the name X to two queries",
        ),
        ("WITH RECURSIVE x AS (SELECT a FROM x) SELECT * FROM x", "RECURSIVE", "WITH RECURSIVE is not supported"),
        ("SELECT * FROM (SELECT a FROM s EMIT CHANGES) x", ") x", "EMIT CHANGES stands at the end of the whole query"),
        ("WITH x (SELECT a FROM s) SELECT * FROM x", "(SELECT", "Expected AS"),
        ("WITH x AS SELECT a FROM s SELECT * FROM x", "SELECT a", "Expected '('"),
        (f"SELECT * FROM {'(SELECT * FROM ' * 21}s{')' * 21}", "(SELECT * FROM " * 21, "on more than 20 levels"),
        ("SELECT f(a) OVER (PARTITION BY b) FROM s", "OVER", f"OVER {NOT_YET}"),
    ],
)
def test_a_problem_says_what_and_where(text: str, marked: str | None, message: str) -> None:
    problem = problem_of(text)
    assert message in problem.message
    assert len(problem.message) < MESSAGE_CHARACTERS_MAX
    start = len(text) if marked is None else text.rindex(marked)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    assert problem.position is not None
    assert (problem.position.line, problem.position.column) == (line, column)


@pytest.mark.parametrize("text", ["", " -- nothing\n", ";", "SHOW TABLES; SHOW STREAMS;"])
def test_only_one_statement_is_taken(text: str) -> None:
    assert "Exactly one statement is expected, but there are" in problem_of(text).message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT " + "(" * 1000 + "a" + ")" * 1000 + " FROM s", "nested more than"),
        ("SELECT " + "NOT " * 1000 + "a FROM s", "nested more than"),
        ("SELECT " + "- " * 1000 + "a FROM s", "nested more than"),
        ("SELECT " + "f(" * 1000 + "a" + ")" * 1000 + " FROM s", "nested more than"),
        ("SELECT " + "a[" * 1000 + "a FROM s", "nested more than"),
        ("SELECT " + "a IN (" * 1000 + "a FROM s", "nested more than"),
        ("SELECT " + "f(a, x => " * 1000 + "a FROM s", "nested more than"),
        ("EXPLAIN " * 1000 + "SHOW TABLES", "nested more than"),
        ("SELECT " + "CASE WHEN " * 1000 + "a FROM s", "nested more than"),
        ("SELECT CAST(a AS " + "ARRAY<" * 1000 + "INT FROM s", "nested more than"),
        ("SELECT " + "a + " * 10_000 + "a FROM s", "more than 200 levels"),
        ("SELECT a" + "[1]" * 10_000 + " FROM s", "more than 200 levels"),
        ("SELECT " + "a, " * BARE_CHARACTERS_MAX + "a FROM s", "outside of strings"),
        ("SELECT '" + "a" * STATEMENT_CHARACTERS_MAX + "' FROM s", "A statement has at most"),
    ],
    ids=lambda value: value[:24],
)
def test_a_statement_that_is_too_big_is_refused(text: str, message: str) -> None:
    assert message in problem_of(text).message


def test_a_statement_that_is_just_not_too_big_is_read() -> None:
    parse_statement("INSERT INTO s VALUES ('" + "a" * BARE_CHARACTERS_MAX + "')")
    parse_statement("SELECT " + "(" * 39 + "a" + ")" * 39 + " FROM s WHERE " + "a OR " * 198 + "b")


WORDS = st.sampled_from(
    [
        *("SELECT", "a", ",", "FROM", "s", "WHERE", "GROUP", "BY", "EMIT", "CHANGES", "LIMIT", "JOIN", "ON", "."),
        *("WINDOW", "TUMBLING", "SIZE", "HOUR", "CREATE", "STREAM", "WITH", "DROP", "SHOW", "STREAMS", "EXPLAIN", ";"),
        *("(", ")", "[", "]", "<", ">", "=", "=>", "->", ":=", "*", "+", "-", "1", "1.5", "'x'", "`q`", "NULL"),
        *(
            "NOT",
            "IN",
            "BETWEEN",
            "AND",
            "LIKE",
            "IS",
            "CASE",
            "WHEN",
            "THEN",
            "END",
            "CAST",
            "AS",
            "INT",
            "ARRAY",
            "MAP",
        ),
    ]
)


def problem_or_none(text: str) -> SyntaxProblem | None:
    try:
        parse_statement(text)
    except SyntaxProblem as problem:
        return problem
    return None


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=30))
def test_any_text_is_a_statement_or_a_syntax_problem_inside_of_it(text: str) -> None:
    problem = problem_or_none(text)
    if problem is not None and problem.position is not None:
        lines = re.split("\r\n|\r|\n", text)
        assert 1 <= problem.position.line <= len(lines)
        assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1


def test_nodes_keep_their_places() -> None:
    query = parse_statement("SELECT a,\n  s.b + 1\nFROM s")
    assert isinstance(query, Query)
    expressions = [item.expression for item in query.select if isinstance(item, SelectColumn)]
    assert expressions[0].position == Position(1, 8, 1)
    assert isinstance(expressions[1], Binary)
    assert expressions[1].position == expressions[1].left.position == Position(2, 3, 1)
    assert expressions[1].right.position == Position(2, 9, 1)
    assert query.source.position == Position(3, 6, 1)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (exp.column("a", table="s", db="d"), "Column cannot be used with DB here."),
        (exp.func("count", exp.column("a")), "Count cannot be used here."),
        (
            exp.Like(this=exp.column("a"), expression=exp.column("b"), negate=True),
            "Like cannot be used with NEGATE here.",
        ),
    ],
)
def test_nothing_of_a_tree_is_left_out(node: exp.Expr, message: str) -> None:
    with pytest.raises(SyntaxProblem, match=message):
        Conversion(Lines("")).expression(node)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_caret_stands_below_the_word(newline: str) -> None:
    text = f"SELECT a,\f b{newline}\tFORM s"
    assert shown(text, problem_of(text)).splitlines()[-2:] == ["  \tFORM s", "  \t^^^^"]
