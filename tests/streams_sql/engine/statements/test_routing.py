"""The type of a statement says which server executes it."""

from __future__ import annotations

import pytest

from streams_sql.engine.statements.request import SqlRequest, parse_request
from streams_sql.engine.statements.routing import Executor, executor_of, executor_of_all

STATEMENTS = {
    Executor.LEADER: (
        "CREATE /* a comment */ STREAM S (A INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');",
        "CREATE TABLE T AS SELECT A, COUNT(*) FROM S GROUP BY A;",
        "INSERT INTO S SELECT * FROM R;",
        "DROP STREAM S;",
        "ALTER SYSTEM 'a' = 'b';",
        "PAUSE Q;",
        "TERMINATE ALL;",
    ),
    Executor.QUERY_SERVER: (
        "SHOW QUERIES;",
        "LIST /* a comment */ QUERIES EXTENDED;",
        "SHOW ERRORS;",
        "DESCRIBE S;",
        "DESCRIBE CONNECTOR C;",
        "EXPLAIN SELECT * FROM S;",
    ),
    Executor.ANY_SERVER: (
        "INSERT INTO S (A) VALUES (1);",
        "DELETE FROM T WHERE A = 1;",
        "CREATE SOURCE CONNECTOR C WITH ('connector.class' = 'x');",
        "DROP CONNECTOR C;",
        "SHOW STREAMS;",
        "ASSERT TOPIC s;",
        "SET 'a' = 'b';",
        "SELECT * FROM S;",
        "PRINT s;",
    ),
}


@pytest.mark.parametrize(("executor", "text"), [(each, text) for each, texts in STATEMENTS.items() for text in texts])
def test_statements_have_an_executor(executor: Executor, text: str) -> None:
    assert executor_of(parse_request(SqlRequest(text)).only().statement) is executor


def test_a_request_is_executed_where_each_of_its_statements_can_be() -> None:
    text = "SHOW STREAMS; SHOW QUERIES; CREATE TYPE N AS INT;"
    statements = [each.statement for each in parse_request(SqlRequest(text)).statements]
    assert [executor_of_all(statements[:count]) for count in (0, 1, 2, 3)] == [
        Executor.ANY_SERVER,
        Executor.ANY_SERVER,
        Executor.QUERY_SERVER,
        Executor.LEADER,
    ]
