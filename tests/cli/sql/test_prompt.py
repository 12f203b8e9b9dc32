"""The prompt of `barnabas sql` on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.cli.terminal.terminal_process import CONTROL_C, CONTROL_D, TAB, UP, TerminalProcess
from tests.ports import free_port
from tests.sql_service import SqlProcess

PROMPT = "sql> "
WITHIN = "...> "

Open = Callable[..., TerminalProcess]


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    """Start the command at a server, on a terminal that is `columns` wide."""
    opened: list[TerminalProcess] = []

    def command(url: str, *words: str, columns: int = 100) -> TerminalProcess:
        own = environment(KSQL_URL=url, XDG_STATE_HOME=str(tmp_path / "state"), HOME=str(tmp_path))
        terminal = TerminalProcess([sys.executable, "-m", "barnabas", "sql", *words], own, columns)
        opened.append(terminal)
        return terminal

    yield command
    for terminal in opened:
        terminal.close()


@pytest.fixture
def stream(sql_service: SqlProcess, topic: str) -> str:
    """A stream with two rows."""
    name = topic.replace("-", "_").upper()
    sql_service.execute(
        f"CREATE STREAM {name} (ID STRING KEY, ITEM STRING, PRICE DOUBLE) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
        f"INSERT INTO {name} VALUES ('a', 'nail', 0.1); INSERT INTO {name} VALUES ('b', NULL, 12.5);"
    )
    return name


def push_queries(server: SqlProcess) -> int:
    (listed,) = server.execute("SHOW QUERIES;")
    return sum(query["queryType"] == "PUSH" for query in listed["queries"])


def test_rows_come_live_until_control_c_which_ends_the_query_and_not_the_prompt(
    sql_service: SqlProcess, stream: str, open_terminal: Open
) -> None:
    running = push_queries(sql_service)
    terminal = open_terminal(sql_service.url, "--set", "auto.offset.reset=earliest")
    terminal.shown(PROMPT)
    terminal.enter("SELECT id, item, price")
    terminal.shown(WITHIN)
    terminal.enter(f"  FROM {stream} EMIT CHANGES;")
    first, second = terminal.shown("12.5").splitlines()[-2:]
    assert first.split() == ["a", "nail", "0.1"]
    assert second.split() == ["b", "null", "12.5"]
    assert push_queries(sql_service) == running + 1
    sql_service.execute(f"INSERT INTO {stream} VALUES ('c', 'saw', 7.25);")
    assert terminal.shown("7.25").split() == ["c", "saw", "7.25"]
    terminal.type(CONTROL_C)
    terminal.shown("ended by Ctrl-C, 3 rows")
    assert push_queries(sql_service) == running
    terminal.shown(PROMPT)
    terminal.enter(f"DESCRIBE {stream};")
    terminal.shown("PRICE   DOUBLE")


def test_a_statement_is_told_of_and_its_mistakes_are_shown(
    sql_service: SqlProcess, stream: str, open_terminal: Open
) -> None:
    terminal = open_terminal(sql_service.url)
    assert "RUNNING. `help` shows some statements" in terminal.shown(PROMPT)
    terminal.enter("-- nothing but a comment")
    terminal.shown(PROMPT)
    terminal.enter("help")
    terminal.shown("RUN SCRIPT 'file.sql';")
    terminal.enter("SET 'auto.offset.reset' = 'earliest';")
    terminal.shown("auto.offset.reset is earliest for this session")
    terminal.enter("DEFINE what = 'nail';")
    terminal.shown("${what} stands for nail")
    terminal.enter(f"INSERT INTO {stream} (id, item) VALUES ('d', '${{what}}');")
    terminal.shown("\ndone\n")
    terminal.enter(f"SELECT id FROM {stream} WHERE item = '${{what}}' EMIT CHANGES LIMIT 2;")
    assert terminal.shown("2 rows, ").splitlines()[-3:-1] == ["a", "d"]
    terminal.enter(f"SELECT priec FROM {stream} EMIT CHANGES;")
    seen = terminal.shown("^^^^^")
    assert "line 1:8: SELECT column 'PRIEC' cannot be resolved. Did you mean PRICE?" in seen
    terminal.shown(PROMPT)
    terminal.enter("UNSET 'nothing.like.it';")
    terminal.shown("The property nothing.like.it is not set. Set: auto.offset.reset.")
    terminal.enter(f"CREATE STREAM {stream}_COPY AS SELECT * FROM {stream};")
    assert "Created query with ID " in terminal.shown("It begins when Spark has started it")
    terminal.shown(PROMPT)
    terminal.enter(f"DROP STREAM {stream}_COPY;")
    terminal.shown("was dropped.")
    terminal.type(CONTROL_D)
    assert terminal.ended() == 0


def test_tab_completes_words_names_and_columns(sql_service: SqlProcess, stream: str, open_terminal: Open) -> None:
    terminal = open_terminal(sql_service.url)
    terminal.shown(PROMPT)
    terminal.type(f"descr{TAB}{stream[:-4].lower()}{TAB};\r")
    terminal.shown(f"stream {stream}, topic")
    terminal.shown(PROMPT)
    # The source is named, since the server of the tests has too many to look through all of them.
    terminal.type(f"SELECT {stream}.ITE{TAB}")
    terminal.shown(f"{stream}.ITEM")
    terminal.type(f" FROM {stream} x WHERE x.pri{TAB}")
    terminal.shown("x.price")


def test_history_keeps_statements_whole_and_over_sessions(
    sql_service: SqlProcess, stream: str, open_terminal: Open, tmp_path: Path
) -> None:
    statement = f"DESCRIBE\n  {stream};"
    first = open_terminal(sql_service.url)
    first.shown(PROMPT)
    for line in statement.splitlines():
        first.enter(line)
    first.shown("PRICE")
    first.shown(PROMPT)
    first.enter("exit")
    assert first.ended() == 0
    file = tmp_path / "state" / "barnabas" / "sql_history"
    assert list(map(json.loads, file.read_text().splitlines())) == [statement]
    assert file.stat().st_mode & 0o077 == 0
    second = open_terminal(sql_service.url)
    second.shown(PROMPT)
    second.type(f"{UP}\r")
    second.shown("PRICE")


def test_control_c_forgets_what_was_typed(sql_service: SqlProcess, open_terminal: Open) -> None:
    terminal = open_terminal(sql_service.url)
    terminal.shown(PROMPT)
    terminal.enter("SELECT 'a string that")
    terminal.shown(WITHIN)
    terminal.type(CONTROL_C)
    terminal.shown(PROMPT)
    terminal.enter("SHOW STREAMS;")
    terminal.shown("VALUE FORMAT")


def test_a_narrow_terminal_shows_rows_one_below_the_other(
    sql_service: SqlProcess, stream: str, open_terminal: Open
) -> None:
    terminal = open_terminal(sql_service.url, "--set", "auto.offset.reset=earliest", columns=30)
    terminal.shown(PROMPT)
    terminal.enter(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;")
    seen = terminal.shown("2 rows, ").splitlines()
    assert seen[-9:-1] == [
        "row 1",
        "ID     a",
        "ITEM   nail",
        "PRICE  0.1",
        "row 2",
        "ID     b",
        "ITEM   null",
        "PRICE  12.5",
    ]


def test_without_a_server_there_is_a_prompt_all_the_same(open_terminal: Open) -> None:
    terminal = open_terminal(f"http://127.0.0.1:{free_port()}")
    assert "cannot reach the SQL server at" in terminal.shown(PROMPT)
    terminal.enter("SHOW STREAMS;")
    terminal.shown("Start one with `barnabas up`")
    terminal.type(f"SHO{TAB}")
    terminal.shown("SHOW")
    terminal.type(CONTROL_C)
    terminal.shown(PROMPT)
    terminal.type(CONTROL_D)
    assert terminal.ended() == 0
