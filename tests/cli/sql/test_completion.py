"""What Tab offers at the SQL prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barnabas.cli.sql.completion import DELIMITERS, Completer
from barnabas.sql import Client
from tests.ports import free_port
from tests.sql_service import SqlProcess

Complete = Callable[[str], list[str]]


@pytest.fixture
def client(sql_service: SqlProcess) -> Iterator[Client]:
    with Client(sql_service.url) as own:
        yield own


@pytest.fixture
def complete(client: Client) -> Complete:
    """What is offered at the end of what somebody has written."""
    return lambda written: offered(Completer(client, lambda: written), written)


def offered(completer: Completer, written: str) -> list[str]:
    """As readline asks: for the word behind the last delimiter, one match after the other."""
    start = max(written.rfind(delimiter) for delimiter in DELIMITERS) + 1
    found: list[str] = []
    while (match := completer(written[start:], len(found))) is not None:
        found.append(match)
    return found


@pytest.fixture
def stream(sql_service: SqlProcess, topic: str) -> str:
    name = topic.replace("-", "_").upper()
    sql_service.execute(
        f"CREATE STREAM {name} (ID STRING KEY, PRICE DOUBLE, `old Price` DOUBLE) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    return name


def test_words_have_the_case_of_who_writes_them(complete: Complete) -> None:
    assert complete("descr") == ["describe "]
    assert complete("DESCR") == ["DESCRIBE "]
    assert complete("CREATE TABLE t WITH (value_f") == ["value_format "]


def test_functions_open_their_brackets(complete: Complete) -> None:
    assert complete("SELECT regexp_split") == ["regexp_split_to_array("]
    assert complete("DESCRIBE FUNCTION URL_EXTRACT_HO") == ["URL_EXTRACT_HOST"]


def test_sources_stand_where_sources_are_meant(complete: Complete, stream: str) -> None:
    for before in ("SELECT * FROM ", "DESCRIBE ", "INSERT INTO ", "DROP STREAM IF EXISTS ", "SELECT * FROM a JOIN "):
        assert complete(f"{before}{stream[:-1]}") == [stream]
    assert complete(f"select * from {stream[:-1].lower()}") == [stream.lower()]
    assert "FROM" not in complete("DESCRIBE ")


def test_only_what_may_follow_is_offered(complete: Complete, stream: str) -> None:
    assert complete("") == complete("SHOW STREAMS; ")
    assert {"SELECT", "ALTER", "ASSERT"} <= set(complete(""))
    assert complete("CREATE S") == ["SINK", "SOURCE", "STREAM"]
    assert complete("create or replace t") == ["table "]
    assert complete("SHOW T") == ["TABLES", "TOPICS", "TYPES"]
    assert complete("DROP T") == ["TABLE", "TYPE"]
    assert complete(f"SELECT id FROM {stream} EMIT ") == ["CHANGES", "FINAL"]
    assert complete(f"SELECT id FROM {stream} L") == ["LEFT", "LIMIT"]
    assert complete(f"SELECT id FROM {stream} WHERE id = 3 a") == ["and "]
    assert complete(f"SELECT id FROM {stream} WHERE id N") == ["NOT "]
    assert complete(f"SELECT id FROM {stream} WINDOW TUMBLING (SIZE 5 MIN") == ["MINUTE", "MINUTES"]
    assert complete("CREATE STREAM x (a BIG") == ["BIGINT "]
    assert complete("CREATE TABLE x (a INT PRI") == ["PRIMARY "]
    assert complete("CREATE TABLE x (a INT PRIMARY ") == ["KEY "]
    assert complete("CREATE STREAM x (a INT ") == ["ARRAY", "HEADER", "HEADERS", "KEY"]
    assert "KEY" not in complete("CREATE TABLE x (a INT ")
    assert complete("CREATE STREAM ") == ["IF "]
    assert complete("CREATE STREAM x WITH (PARTITIONS=1, value_s") == ["value_schema_full_name", "value_schema_id"]
    assert "FUNCTION" in complete("DESCRIBE ")
    # Of several words, those that go on with the ones that are there.
    assert complete("CREATE OR ") == ["REPLACE "]
    assert complete("DROP STREAM IF ") == ["EXISTS "]
    assert complete(f"SELECT id FROM {stream} ORDER ") == complete(f"SELECT id FROM {stream} GROUP ") == ["BY "]
    assert complete(f"SELECT id FROM {stream} UNION ") == ["ALL", "DISTINCT", "SELECT"]
    assert complete(f"SELECT id FROM {stream} SINCE ") == ["BEGINNING", "OFFSET", "TIMESTAMP"]
    assert complete(f"SELECT id FROM {stream} PARTITION 0 T") == ["TAIL "]
    assert complete(f"SELECT id FROM {stream} WHERE id NOT ") == ["BETWEEN", "IN", "LIKE"]
    assert complete(f"SELECT id FROM {stream} EMIT CHANGES ") == ["LIMIT "]
    assert "HAVING" not in complete(f"SELECT id FROM {stream} ")
    assert "HAVING" in complete(f"SELECT id FROM {stream} GROUP BY id ")
    assert "WHEN" in complete("SELECT CASE ")
    assert "SELECT" in complete("EXPLAIN ")


def test_columns_are_those_of_the_sources_that_are_named(complete: Complete, stream: str) -> None:
    assert complete(f"SELECT * FROM {stream} WHERE pri") == ["price"]
    assert complete(f"SELECT * FROM {stream} WHERE old") == ["`old Price`"]
    assert complete(f"SELECT * FROM {stream} WHERE `o") == ["`old Price`"]
    assert complete(f"SELECT * FROM {stream} AS x WHERE x.p") == ["x.price"]
    assert complete(f"SELECT * FROM {stream} y WHERE y.") == ["y.ID", "y.PRICE", "y.`old Price`"]
    assert complete(f"SELECT * FROM {stream} y WHERE z.") == []
    assert complete(f"SELECT * FROM {stream} WHERE 2*id-pric") == ["2*id-price"]


def test_quoted_names_are_topics_properties_and_files(
    complete: Complete, stream: str, topic: str, tmp_path: Path
) -> None:
    assert complete(f"PRINT '{topic[:-1]}") == [f"'{topic}'"]
    assert complete(f"CREATE STREAM x WITH (KAFKA_TOPIC='{topic[:-1]}") == [f"'{topic}'"]
    assert complete("SET 'ksql.service") == ["'ksql.service.id'"]
    (tmp_path / "some.sql").touch()
    assert complete(f"RUN SCRIPT '{tmp_path}/so") == [f"'{tmp_path}/some.sql'"]
    assert complete("SELECT 'so") == []


def test_what_was_written_in_earlier_lines_counts(client: Client, stream: str) -> None:
    completer = Completer(client, lambda: "WHERE PRIC")
    completer.statement = f"SELECT *\nFROM {stream}"
    assert offered(completer, "WHERE PRIC") == ["PRICE"]


def test_names_that_come_into_being_are_offered_when_a_statement_was_run(
    client: Client, sql_service: SqlProcess, stream: str
) -> None:
    completer = Completer(client, lambda: f"DESCRIBE {stream}")
    assert offered(completer, f"DESCRIBE {stream}") == [stream]
    sql_service.execute(
        f"CREATE STREAM {stream}_2 (A INTEGER) WITH (KAFKA_TOPIC='{stream}2', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    assert offered(completer, f"DESCRIBE {stream}") == [stream]
    completer.forget()
    assert offered(completer, f"DESCRIBE {stream}") == [stream, f"{stream}_2"]


def test_without_a_server_there_are_the_words() -> None:
    with Client(f"http://127.0.0.1:{free_port()}") as client:
        assert offered(Completer(client, lambda: "SHO"), "SHO") == ["SHOW "]
