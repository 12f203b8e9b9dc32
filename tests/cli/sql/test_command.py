"""`barnabas sql` with statements of a command line, a file or standard input."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow.ipc  # type: ignore[import-untyped]
import pytest

from barnabas.cli.main import main
from barnabas.cli.platform import serve
from barnabas.cli.sql.entities import write_entity
from barnabas.kernel.environment import setting_variables
from tests.broker import BarnabasBroker
from tests.cli.conftest import COMMAND_DEADLINE_S, environment
from tests.ports import free_port
from tests.registry import RegistryProcess
from tests.sql_service import SqlProcess
from tests.waiting import wait_for

Captured = pytest.CaptureFixture[str]
Sql = Callable[..., str]
Refused = Callable[..., tuple[int, str]]

EARLIEST = ("--set", "auto.offset.reset=earliest")


@pytest.fixture
def sql(sql_service: SqlProcess, capsys: Captured) -> Sql:
    """Run the command; it must succeed. Returns what it printed."""

    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(["sql", *words, "--server", sql_service.url]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(sql_service: SqlProcess, capsys: Captured) -> Refused:
    """Run the command, which does not succeed. Returns its status and what it said on standard error."""

    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["sql", *words, "--server", sql_service.url])
        return status, capsys.readouterr().err

    return run


@pytest.fixture
def stream(sql_service: SqlProcess, topic: str) -> str:
    """A stream of parts, with one row that has everything and one that has nothing but its key."""
    name = topic.replace("-", "_").upper()
    sql_service.execute(
        f"CREATE STREAM {name} (ID STRING KEY, NAME STRING, PRICE DECIMAL(30, 2), SEEN TIMESTAMP, TAGS ARRAY<STRING>, IS_NEW BOOLEAN) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
        f"INSERT INTO {name} VALUES ('a', 'it''s; \"new\"', 1234567890123456789012.50, '2026-01-02T03:04:05', ARRAY['x', 'y z'], true);"
        f"INSERT INTO {name} (ID) VALUES ('b');"
    )
    return name


def from_standard_input(server: SqlProcess, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "barnabas", "sql"],
        input=text,
        env=environment(KSQL_URL=server.url),
        capture_output=True,
        text=True,
        timeout=COMMAND_DEADLINE_S,
        check=False,
    )


# --- rows ---


def test_rows_as_a_table(sql: Sql, stream: str) -> None:
    head, first, second = sql(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", *EARLIEST).splitlines()
    assert head.split() == ["ID", "NAME", "PRICE", "SEEN", "TAGS", "IS_NEW"]
    assert first.split(maxsplit=1)[0] == "a"
    assert "1234567890123456789012.50" in first
    assert '["x","y z"]' in first
    assert second.split() == ["b", "null", "null", "null", "null", "null"]


def test_rows_as_lines_of_json_have_all_their_digits(sql: Sql, stream: str) -> None:
    first, second = sql("-o", "jsonl", f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", *EARLIEST).splitlines()
    assert '"PRICE":1234567890123456789012.50,' in first
    assert json.loads(first)["TAGS"] == ["x", "y z"]
    assert json.loads(second) == dict.fromkeys(["NAME", "PRICE", "SEEN", "TAGS", "IS_NEW"]) | {"ID": "b"}


def test_rows_as_csv(sql: Sql, stream: str) -> None:
    printed = sql("-o", "csv", f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;", *EARLIEST)
    assert list(csv.reader(io.StringIO(printed))) == [
        ["ID", "NAME", "PRICE", "SEEN", "TAGS", "IS_NEW"],
        ["a", 'it\'s; "new"', "1234567890123456789012.50", "2026-01-02T03:04:05.000", '["x","y z"]', "true"],
        ["b", "", "", "", "", ""],
    ]


def test_a_topic_without_a_stream_is_shown_with_what_was_read(sql: Sql, stream: str, topic: str) -> None:
    head, *_, notes, figures = sql(f"SELECT * FROM topic('{topic}') LIMIT 1;").splitlines()
    assert head.startswith("ROWKEY")
    assert notes.startswith(f"columns of {topic} from a sample of ")
    assert re.fullmatch(r"1 row of \d+ records \([0-9.]+ (bytes|kB)\), \d+ ms", figures), figures


def test_notes_of_a_query_without_rows_stand_beside_its_output(
    sql_service: SqlProcess, stream: str, topic: str, capsys: Captured
) -> None:
    words = ["sql", "-o", "jsonl", f"SELECT * FROM topic('{topic}') WHERE ROWKEY = 'nobody';"]
    assert main([*words, "--server", sql_service.url]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"columns of {topic} from a sample of ")


def test_a_query_that_waits_for_new_records_says_so_before_its_rows(sql_service: SqlProcess, stream: str) -> None:
    words = [sys.executable, "-m", "barnabas", "sql", "--server", sql_service.url]
    select = f"SELECT ID FROM {stream} EMIT CHANGES LIMIT 1;"
    with subprocess.Popen([*words, select], stdout=subprocess.PIPE, text=True, env=environment()) as running:
        assert running.stdout is not None
        assert running.stdout.readline().strip() == "ID"
        assert "waits for new records" in running.stdout.readline()
        sql_service.execute(f"INSERT INTO {stream} (ID) VALUES ('new');")
        assert running.stdout.readline().strip() == "new"
    assert running.returncode == 0


def test_rows_as_a_stream_of_arrow(sql_service: SqlProcess, stream: str) -> None:
    words = [sys.executable, "-m", "barnabas", "sql", "-o", "arrow", "--server", sql_service.url]
    select = f"SELECT COUNT(*) AS n FROM {stream};"
    done = subprocess.run(
        [*words, f"SHOW STREAMS; {select}"],
        capture_output=True,
        env=environment(),
        timeout=COMMAND_DEADLINE_S,
        check=True,
    )
    assert pyarrow.ipc.open_stream(done.stdout).read_all().to_pydict()["N"][0] > 0
    told = subprocess.run(
        [*words, f"SHOW STREAMS; DESCRIBE {stream}; DEFINE x = '1';"],
        capture_output=True,
        env=environment(),
        timeout=COMMAND_DEADLINE_S,
        check=True,
    )
    columns = pyarrow.ipc.open_stream(told.stdout).read_all().to_pydict()
    assert list(columns) == ["column", "type", "role"]
    assert columns["type"][0] == "STRING"
    twice = subprocess.run(
        [*words, select * 2], capture_output=True, env=environment(), timeout=COMMAND_DEADLINE_S, check=False
    )
    assert twice.returncode == 1
    assert b"one has been written already" in twice.stderr


def test_a_pull_query_is_one_array_of_json(
    sql: Sql, sql_service: SqlProcess, barnabas: BarnabasBroker, topic: str, tmp_path: Path
) -> None:
    name = topic.replace("-", "_").upper()
    sql_service.execute(
        f"CREATE SOURCE TABLE {name} (ID STRING PRIMARY KEY, N INTEGER) "
        f"WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);"
    )
    assert sql("-o", "json", f"SELECT * FROM {name};") == "[]\n"
    (tmp_path / "values").write_text('{"N": 1}\n')
    assert main(["produce", topic, "--key", "a", "--file", str(tmp_path / "values"), "-b", barnabas.address]) == 0
    sql_service.wait_for_rows(f"SELECT * FROM {name};", [["a", 1]])
    assert json.loads(sql("-o", "json", f"SELECT * FROM {name};")) == [{"ID": "a", "N": 1}]
    assert sql(f"SELECT * FROM {name} WHERE ID = 'a';").splitlines() == ["ID  N", "a   1"]


def test_print_shows_records_as_they_are(sql: Sql, stream: str, topic: str) -> None:
    *formats, record = sql(f"PRINT '{topic}' FROM BEGINNING LIMIT 1;").splitlines()
    assert formats == ["Key format: KAFKA_STRING", "Value format: JSON or KAFKA_STRING"]
    assert "key: a, value: {" in record


# --- what statements answer ---


def test_statements_answer_with_tables(sql: Sql, stream: str, topic: str) -> None:
    listed = [line.split() for line in sql("SHOW STREAMS;").splitlines()]
    assert listed[0] == ["NAME", "TOPIC", "KEY", "FORMAT", "VALUE", "FORMAT", "WINDOWED"]
    assert [stream, topic, "KAFKA", "JSON", "false"] in listed
    described = sql(f"DESCRIBE {stream};").splitlines()
    assert described[0] == f"stream {stream}, topic {topic} (key KAFKA, value JSON)"
    assert described[2].split() == ["ID", "STRING", "key"]
    assert described[4].split() == ["PRICE", "DECIMAL(30,", "2)", "-"]
    assert "ARRAY<STRING>" in described[6]
    explained = [
        line.split() for line in sql(f"EXPLAIN SELECT price + 1 AS more FROM {stream} EMIT CHANGES;").splitlines()
    ]
    assert ["MORE", f"{stream}.PRICE"] in explained
    explained = [line.split() for line in sql(f"EXPLAIN SELECT name FROM {stream} WHERE id = 'a';").splitlines()]
    assert ["NAME", f"{stream}.NAME"] in explained


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("SHOW TOPICS;", "PARTITIONS"),
        ("SHOW TABLES;", "VALUE FORMAT"),
        ("SHOW QUERIES;", "STATEMENT"),
        ("SHOW QUERIES EXTENDED;", ""),
        ("SHOW STREAMS EXTENDED;", ""),
        ("SHOW PROPERTIES;", "ksql.service.id"),
        ("SHOW FUNCTIONS;", "SUBSTRING"),
        ("SHOW TYPES;", "SCHEMA"),
        ("SHOW ERRORS;", "OFFSET"),
        ("SHOW VARIABLES;", "VARIABLE"),
        ("DESCRIBE FUNCTION LCASE;", ") -> STRING"),
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
def test_every_answer_has_every_form(sql: Sql, statement: str, told: str, form: str) -> None:
    printed = sql("-o", form, statement)
    if form == "table":
        assert told in printed
    elif form != "csv":
        assert json.loads(printed)["statementText"] == statement


def test_connectors_and_assertions_as_tables() -> None:
    def printed(entity: dict[str, object]) -> str:
        out = io.StringIO()
        write_entity(out, "table", entity)
        return out.getvalue()

    status = {
        "name": "c",
        "type": "sink",
        "connector": {"state": "RUNNING", "worker_id": "w:1", "msg": None},
        "tasks": [{"id": 0, "state": "FAILED", "worker_id": "w:1", "msg": "out of paper"}],
    }
    source = {"name": "S", "type": "STREAM", "topic": "t"}
    described = printed(
        {
            "@type": "connector_description",
            "connectorClass": "x.Y",
            "status": status,
            "topics": ["t"],
            "sources": [source],
        }
    ).splitlines()
    assert described[0] == "sink connector c: x.Y"
    assert ["task", "0", "FAILED", "w:1"] in [line.split() for line in described]
    assert "out of paper" in described
    assert ["S", "stream", "t"] in [line.split() for line in described]
    listed = {"name": "c", "type": "sink", "className": "x.Y", "state": "PAUSED"}
    assert "PAUSED" in printed({"@type": "connector_list", "connectors": [listed]})
    plugin = {"className": "x.Y", "type": "sink", "version": "1"}
    assert "x.Y" in printed({"@type": "connector_plugins_list", "connectorsPlugins": [plugin]})
    assert printed({"@type": "connector_info", "info": {"name": "c"}}) == "Created connector c\n"
    assert printed({"@type": "drop_connector", "connectorName": "c"}) == "Dropped connector c\n"
    assert printed({"@type": "assert_topic", "topicName": "t", "exists": False}) == "Topic t does not exist.\n"
    schema = {"@type": "assert_schema", "subject": "t-value", "id": 3, "exists": True}
    assert printed(schema) == "Schema with subject name t-value id 3 exists.\n"


def test_properties_and_variables_hold_for_the_session(sql: Sql, stream: str) -> None:
    printed = sql(
        f"SET 'auto.offset.reset' = 'earliest'; DEFINE id = 'b';"
        f"SELECT id FROM {stream} WHERE id = '${{id}}' EMIT CHANGES LIMIT 1; SHOW VARIABLES; UNDEFINE id; SHOW VARIABLES;",
        "-o",
        "csv",
    )
    assert printed == "ID\nb\nvariable,value\nid,b\nvariable,value\n"


# --- mistakes ---


def test_a_mistake_is_shown_with_its_place_and_a_remedy(refused: Refused, stream: str) -> None:
    status, said = refused(f"SELECT id,\n  naem FROM {stream} EMIT CHANGES;")
    assert status == 1
    assert said == (
        "barnabas: line 2:3: SELECT column 'NAEM' cannot be resolved. Did you mean NAME?\n"
        f"    naem FROM {stream} EMIT CHANGES;\n"
        "    ^^^^\n"
    )


def test_what_leaves_no_trace_is_told_to_people_alone(sql: Sql, stream: str) -> None:
    statement = f"INSERT INTO {stream} (ID) VALUES ('c');"
    assert sql(statement) == "done\n"
    assert [sql("-o", form, statement) for form in ("json", "jsonl", "csv")] == [""] * 3


def test_a_file_stops_at_its_first_mistake_and_says_where(
    sql_service: SqlProcess, refused: Refused, sql: Sql, stream: str, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "some.sql"
    file.write_text(
        "-- A comment; with a semicolon.\n"
        f"INSERT INTO {stream} (ID) VALUES ('c;');\n\n"
        f"/* two */ DESCRIBE {stream}; SELECT\n  nothing FROM {stream} EMIT CHANGES;\n"
        f"DROP STREAM {stream};\n"
    )
    status, said = refused("--file", str(file))
    assert status == 1
    assert said.startswith(f"barnabas: {file}:5:3: statement 3: SELECT column 'NOTHING' cannot be resolved.")
    assert sql("-o", "csv", f"SELECT id FROM {stream} WHERE id = 'c;' EMIT CHANGES LIMIT 1;", *EARLIEST) == "ID\nc;\n"


def test_scripts_run_scripts_and_the_inner_one_is_named(refused: Refused, sql: Sql, tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner's.sql", tmp_path / "outer.sql"
    inner.write_text("SHOW VARIABLES;\n")
    outer.write_text(f"DEFINE a = '1';\nRUN SCRIPT '{str(inner).replace(chr(39), chr(39) * 2)}';\n")
    assert sql("-o", "csv", "-f", str(outer)) == "variable,value\na,1\n"
    inner.write_text("\nSHOW VARIABELS;\n")
    assert f"{inner}:2:6: statement 1: " in refused("-f", str(outer))[1]
    inner.write_text(outer.read_text())
    assert "does one run itself?" in refused("-f", str(outer))[1]
    assert "cannot read 'no such file'" in refused("RUN SCRIPT 'no such file';")[1]
    assert "Write RUN SCRIPT 'file.sql';" in refused("RUN;")[1]


def test_a_script_finds_those_beside_it(sql: Sql, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    (tmp_path / "outer.sql").write_text("RUN SCRIPT 'deep/middle.sql';\nRUN SCRIPT 'last.sql';\n")
    (tmp_path / "deep" / "middle.sql").write_text("DEFINE a = '1';\nRUN SCRIPT 'deeper/inner.sql';\n")
    (folder / "inner.sql").write_text("RUN SCRIPT '../last.sql';\n")
    (tmp_path / "deep" / "last.sql").write_text("DEFINE b = '2';\n")
    (tmp_path / "last.sql").write_text("SHOW VARIABLES;\n")
    assert sql("-o", "csv", "-f", str(tmp_path / "outer.sql")) == "variable,value\na,1\nb,2\n"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("SELECT 'abc",), 1, "line 1:8: The string that begins here is not finished: ' is missing."),
        (("SHWO TABLES;",), 1, "Did you mean SHOW?"),
        (("UNSET 'some.thing';",), 1, "The property some.thing is not set. SET sets one."),
        (("SET 'auto.offset.reset' = 'first';",), 1, "auto.offset.reset=first is not one of earliest, latest."),
        (("SET auto;",), 1, "line 1:5: "),
        (("--set", "auto.ofset.reset=earliest", "SHOW TABLES;"), 1, "Did you mean auto.offset.reset?"),
        (("--set", "auto", "SHOW TABLES;"), 2, "'auto' is not of the form name=value"),
        (("--file", "no/such/file.sql"), 2, "cannot read 'no/such/file.sql': No such file or directory"),
    ],
)
def test_what_is_wrong_is_said(refused: Refused, words: tuple[str, ...], status: int, said: str) -> None:
    found, told = refused(*words)
    assert (found, said in told) == (status, True), told


def test_a_server_that_cannot_be_asked(capsys: Captured, registry: RegistryProcess) -> None:
    absent = f"http://127.0.0.1:{free_port()}"
    for url, said in ((absent, f"cannot reach the SQL server at {absent}"), (registry.url, "not as a SQL server does")):
        for statement in ("SHOW STREAMS;", "SELECT * FROM x;", "PRINT x;", "SET 'a' = 'b';"):
            assert main(["sql", statement, "--server", url]) == 3
            told = capsys.readouterr().err
            assert said in told
            assert "name another with --server URL (or KSQL_URL)." in told
    assert main(["sql", "SHOW STREAMS;", "--server", "127.0.0.1:8088"]) == 2


class Starting(BaseHTTPRequestHandler):
    """A server that reads its catalogue."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"@type":"generic_error","error_code":50300,"message":"The server is starting."}'
        self.send_response(503)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the base class
        pass


def test_a_server_that_is_not_ready_cannot_be_asked_either(capsys: Captured) -> None:
    with HTTPServer(("127.0.0.1", 0), Starting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert main(["sql", "SHOW STREAMS;", "--server", f"http://127.0.0.1:{server.server_port}"]) == 3
        server.shutdown()
    assert capsys.readouterr().err == "barnabas: The server is starting.\n"


class Stopping(Starting):
    """A server that stops while somebody listens."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"queryId":"q","columnNames":["A"],"columnTypes":["INTEGER"]}\n[1]\n')
        self.wfile.write(b'{"@type":"generic_error","error_code":50300,"message":"The server stops."}\n')


def test_a_query_that_the_server_has_ended_did_not_succeed(capsys: Captured) -> None:
    with HTTPServer(("127.0.0.1", 0), Stopping) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert main(["sql", "SELECT * FROM s EMIT CHANGES;", "--output", "jsonl", "--server", url]) == 3
        server.shutdown()
    told = capsys.readouterr()
    assert (told.out, told.err) == ('{"A":1}\n', "barnabas: The server stops.\n")


def test_the_flags_of_the_server_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, str]] = []

    def run(_service: object, flags: dict[str, str], _file: object, *, supervised: bool) -> int:
        given.append(flags)
        return 0

    monkeypatch.setattr(serve, "serve", run)
    words = ["--spark-master", "local[2]", "--queries-file", "q.sql", "--schema-registry-url", "http://r:1"]
    assert main(["serve", "sql", *words]) == 0
    assert given == [
        {"spark.master": "local[2]", "ksql.queries.file": "q.sql", "ksql.schema.registry.url": "http://r:1"}
    ]


def test_the_variable_of_the_command_is_no_setting_of_the_server() -> None:
    assert list(setting_variables({"KSQL_URL": "http://x", "KSQL_LISTENERS": "http://y"}, "KSQL_")) != []
    assert list(setting_variables({"KSQL_URL": "http://x"}, "KSQL_")) == []


# --- standard input and output ---


def test_statements_of_standard_input_run_as_they_come(sql_service: SqlProcess, stream: str) -> None:
    """Each as soon as it is whole: whoever writes them waits for what they answer."""
    words = [sys.executable, "-m", "barnabas", "sql", "-o", "csv"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(KSQL_URL=sql_service.url), text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("SHOW\n  VARIABLES;\n")
        process.stdin.flush()
        assert process.stdout.readline() == "variable,value\n"
        process.stdin.write("DEFINE a = '1'; SHOW VARIABLES\n;")
        process.stdin.close()
        assert process.stdout.read() == "variable,value\na,1\n"
        assert process.wait(COMMAND_DEADLINE_S) == 0


def test_a_mistake_on_standard_input_is_placed(sql_service: SqlProcess) -> None:
    done = from_standard_input(sql_service, "SHOW VARIABLES;\n\nSHOW VARIABELS;\nSHOW TABLES;\n")
    assert (done.returncode, done.stdout) == (1, "VARIABLE  VALUE\n")
    assert done.stderr.startswith("barnabas: line 3:6: statement 2: ")


def test_a_reader_may_leave_a_query_that_never_ends(sql_service: SqlProcess, stream: str) -> None:
    query = f"SELECT id FROM {stream} EMIT CHANGES;"
    with subprocess.Popen(
        [
            "bash",
            "-c",
            f"set -o pipefail; {sys.executable} -m barnabas sql -o csv '{query}' {' '.join(EARLIEST)} | head -n 2",
        ],
        env=environment(KSQL_URL=sql_service.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:

        def has_ended() -> bool:
            # That nobody reads any more shows when there is something to write.
            sql_service.execute(f"INSERT INTO {stream} (id) VALUES ('more');")
            return process.poll() is not None

        wait_for(has_ended, "the command to end", COMMAND_DEADLINE_S)
        assert (process.returncode, *process.communicate()) == (0, "ID\na\n", "")
