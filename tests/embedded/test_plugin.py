"""The plugin of pytest, as a project that uses it sees it, and the example of such a project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.testing import platform
from tests.registry import ask

RUN_DEADLINE_S = 280
PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "order_desk"
TESTS = """
import json
import urllib.request


def test_topics_are_those_of_a_test(kafka):
    assert kafka.topics() == []
    kafka.create_topic("mine")
    kafka.faults.fail_appends()


def test_the_next_one_finds_nothing_of_it(kafka, schema_registry, rest_proxy):
    assert "mine" not in kafka.topics()
    topic = kafka.create_topic("orders")
    body = json.dumps({"records": [{"value": {"item": "nail"}}]}).encode()
    request = urllib.request.Request(
        f"{rest_proxy}/topics/orders", body, {"Content-Type": "application/vnd.kafka.json.v2+json"}
    )
    urllib.request.urlopen(request).read()
    assert [json.loads(record.value) for record in kafka.records(topic)] == [{"item": "nail"}]
    assert json.load(urllib.request.urlopen(f"{schema_registry}/subjects")) == []
"""
TURNS = """
import json
import time
import urllib.request
from pathlib import Path

import pytest

from barnabas.wire.errors import KafkaError

LINES = Path(__file__).with_name("lines.txt")
RECORD = {"type": "record", "name": "Order", "fields": []}


def ask(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    return json.load(urllib.request.urlopen(request))


def state(streams_sql):
    told = ask("POST", f"{streams_sql}/ksql", {"ksql": "SHOW STREAMS; SHOW TABLES; SHOW QUERIES; SHOW TYPES;"})
    return [len(told[0]["streams"]), len(told[1]["tables"]), len(told[2]["queries"]), len(told[3]["types"])]


def values(kafka, topic):
    try:
        return [record.value for record in kafka.records(topic)]
    except KafkaError:
        return []


@pytest.fixture
def settings(schema_registry):
    ask("PUT", f"{schema_registry}/config", {"compatibility": "NONE"})


@pytest.mark.parametrize("turn", [1, 2])
def test_a_connector(turn, kafka, connect):
    assert ask("GET", f"{connect}/connectors") == []
    config = {"connector.class": "FileStreamSource", "file": str(LINES), "topic": "lines"}
    ask("POST", f"{connect}/connectors", {"name": "lines", "config": config})
    deadline = time.monotonic() + 60
    while len(values(kafka, "lines")) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert values(kafka, "lines") == [b'"nail"', b'"hammer"']


@pytest.mark.parametrize("turn", [1, 2])
def test_statements(turn, streams_sql, schema_registry, kafka):
    assert state(streams_sql) == [0, 0, 0, 0]
    statements = (
        "CREATE TYPE money AS DECIMAL(6, 2);"
        "CREATE STREAM orders (v INT) WITH (kafka_topic='orders', partitions=1, value_format='AVRO');"
        "CREATE STREAM dear AS SELECT * FROM orders WHERE v > 1;"
        "INSERT INTO orders SELECT * FROM dear;"
        "CREATE TABLE counts AS SELECT v, COUNT(*) AS n FROM dear GROUP BY v;"
    )
    ask("POST", f"{streams_sql}/ksql", {"ksql": statements})
    assert state(streams_sql) == [2, 1, 3, 1]
    assert "orders-value" in ask("GET", f"{schema_registry}/subjects")
    kafka.faults.stall()


@pytest.mark.parametrize("turn", [1, 2])
def test_subjects(turn, settings, schema_registry, kafka):
    assert ask("GET", f"{schema_registry}/subjects?deleted=true") == []
    text = {"schema": json.dumps(RECORD)}
    ask("POST", f"{schema_registry}/subjects/order/versions", text)
    field = {"name": "order", "type": "Order"}
    other = {"schema": json.dumps({**RECORD, "name": "Bill", "fields": [field]})}
    other["references"] = [{"name": "Order", "subject": "order", "version": 1}]
    assert ask("POST", f"{schema_registry}/subjects/zbill/versions", other)["id"]
    assert ask("GET", f"{schema_registry}/subjects/zbill/versions") == [1]
    ask("POST", f"{schema_registry}/subjects/:.own:left/versions", text)
    ask("DELETE", f"{schema_registry}/subjects/:.own:left")


def test_the_registry_is_what_it_was(schema_registry):
    assert ask("GET", f"{schema_registry}/config")["compatibilityLevel"] == "BACKWARD"


@pytest.mark.parametrize("turn", [1, 2])
def test_an_instance(turn, rest_proxy, schema_registry):
    assert ask("GET", f"{rest_proxy}/consumers") == []
    request = urllib.request.Request(
        f"{rest_proxy}/consumers/a%2Fgroup", b'{"name": "mine"}', {"Content-Type": "application/vnd.kafka.v2+json"}
    )
    urllib.request.urlopen(request).read()
    assert [each["group"] for each in ask("GET", f"{rest_proxy}/consumers")] == ["a/group"]
    body = {"value_schema": json.dumps(RECORD), "records": [{"value": {}}]}
    request = urllib.request.Request(
        f"{rest_proxy}/topics/avro", json.dumps(body).encode(), {"Content-Type": "application/vnd.kafka.avro.v2+json"}
    )
    number = json.load(urllib.request.urlopen(request))["value_schema_id"]
    assert json.loads(ask("GET", f"{schema_registry}/schemas/ids/{number}")["schema"])["name"] == "Order"
"""
SQL_TESTS = """
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='AVRO');

--@test: it is there
CREATE STREAM t WITH (value_format='JSON') AS SELECT id, UCASE(v) AS v FROM s;
INSERT INTO s VALUES (1, 'a');
ASSERT VALUES t VALUES (1, 'A');

--@test: it is not
INSERT INTO s VALUES (1, 'a');
-- A caret stands below the name.
ASSERT VALUES s VALUES (1, 'b');
"""
MISSING = """
import pytest
import barnabas.services


@pytest.fixture(autouse=True, scope="session")
def nothing_installed():
    patch = pytest.MonkeyPatch()
    patch.setattr(barnabas.services.Service, "missing_packages", lambda self: ["granian"])
    yield
    patch.undo()


def test_it(schema_registry):
    pass


def test_both(streams_sql):
    pass
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As somebody else's project does, who has nothing of our own settings."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])},
        capture_output=True,
        text=True,
        timeout=RUN_DEADLINE_S,
        check=False,
    )


def test_fixtures_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_orders.py").write_text(TESTS)
    ended = run_pytest(tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout


def test_nothing_of_a_test_is_there_in_the_next(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "lines.txt").write_text("nail\nhammer\n")
    (tmp_path / "test_turns.py").write_text(TURNS)
    ended = run_pytest(tmp_path, "-x", "-n", "0")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "9 passed" in ended.stdout


def test_files_of_sql_are_tests_if_they_have_some(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_orders.sql").write_text(SQL_TESTS)
    (page,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "totals_test.sql").write_text(page)
    (tmp_path / "test_rows.sql").write_text("INSERT INTO accounts VALUES ('it''s something else);")
    ended = run_pytest(tmp_path)
    assert "test_orders.sql:12: Expected record does not match actual" in ended.stdout, ended.stdout + ended.stderr
    assert "1 failed, 4 passed" in ended.stdout
    assert "FAILED test_orders.sql::it is not" in ended.stdout


def test_files_of_sql_without_its_packages_leave_other_tests_alone(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text("import sys\nsys.modules['sqlglot'] = None\n")
    (tmp_path / "test_orders.sql").write_text(SQL_TESTS)
    (tmp_path / "test_rows.sql").write_text("INSERT INTO accounts VALUES (1);")
    (tmp_path / "test_others.py").write_text("def test_it():\n    pass\n")
    ended = run_pytest(tmp_path)
    assert "1 failed, 1 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "test_orders.sql needs sqlglot: pip install 'barnabas[sql]'" in ended.stdout


def test_a_fixture_whose_extra_is_missing_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_missing.py").write_text(MISSING)
    ended = run_pytest(tmp_path)
    assert ended.returncode == 1
    assert "the Schema Registry needs granian: pip install 'barnabas[registry]'" in ended.stdout
    together = "the Schema Registry and SQL over topics need granian: pip install 'barnabas[registry,sql]'"
    assert together in ended.stdout


def test_the_example_project() -> None:
    ended = run_pytest(EXAMPLE)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_platform_of_some_services() -> None:
    with platform(["broker", "registry"]) as running:
        assert ask(running.schema_registry_url, "GET", "/subjects").body == []
        assert running.bootstrap_servers.startswith("127.0.0.1:")
        with pytest.raises(LookupError, match="has no rest; it has broker, registry"):
            _ = running.rest_url
        assert "registry" in running.log
