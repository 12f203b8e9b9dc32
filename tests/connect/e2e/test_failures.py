"""What goes wrong on the other side is told in the status, loses nothing, and heals when its cause goes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.connect.e2e.pipelines import PLAIN_JSON, file_sink, file_source, table_sink, table_source
from tests.connect.tasks.topics import create, values, wait_for_values, write
from tests.connect_service import ConnectProcess
from tests.databases import MariaDb
from tests.ports import HOST, free_port
from tests.registry import RegistryProcess
from tests.waiting import wait_for

CLI_DEADLINE_S = 180


@pytest.fixture
def connector(connect_service: ConnectProcess, topic: str) -> Iterator[str]:
    """The name of a connector, which is gone afterwards."""
    yield topic
    connect_service.call("DELETE", f"/connectors/{topic}")


def wait_for_trace(worker: ConnectProcess, connector: str, *said: str) -> None:
    def told() -> bool:
        status = str(worker.status(connector))
        return all(each in status for each in said)

    wait_for(told, f"{connector} to say {said}")


def test_a_table_that_is_dropped_and_made_again(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, database: SampleDatabase, connector: str
) -> None:
    def make(number: int) -> None:
        database.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)", f"INSERT INTO things VALUES ({number})")

    make(1)
    connect_service.create(connector, table_source(database.url, "things", f"{connector}-", **PLAIN_JSON))
    wait_for_values(barnabas.address, f"{connector}-things", 1)
    database.execute("DROP TABLE things")
    wait_for_trace(connect_service, connector, "FAILED", "there is no table things", "Automatic restart")
    make(2)
    assert wait_for_values(barnabas.address, f"{connector}-things", 2) == ['{"id":1}', '{"id":2}']
    connect_service.wait_for_tasks(connector, ["RUNNING"])


def test_a_file_that_is_not_there_yet(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, connector: str, tmp_path: Path
) -> None:
    file = tmp_path / "later.txt"
    connect_service.create(connector, file_source(file, connector))
    wait_for_trace(connect_service, connector, "RUNNING", f"{file} cannot be read: No such file or directory.")
    file.write_text("here\n")
    assert wait_for_values(barnabas.address, connector, 1) == ["here"]
    wait_for(lambda: "trace" not in str(connect_service.status(connector)), "nothing to be told any more")


def test_columns_that_come_in_mid_stream(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, database: SampleDatabase, connector: str
) -> None:
    create(barnabas.address, connector)
    database.execute("CREATE TABLE people (id BIGINT PRIMARY KEY)")
    chosen = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id", **PLAIN_JSON}
    sink = table_sink(database.url, connector, "people", **chosen)
    connect_service.create(connector, sink)
    write(barnabas.address, connector, ['{"id":1}', '{"id":2,"name":"Ada"}'])
    wait_for_trace(connect_service, connector, "FAILED", "table people has no column for name", "auto.evolve")
    connect_service.create(connector, {**sink, "auto.evolve": "true"})
    wait_for(lambda: _count(database) == 2, "both rows")
    assert database.rows("SELECT id, name FROM people ORDER BY id") == [(1, None), (2, "Ada")]
    connect_service.wait_for_tasks(connector, ["RUNNING"])


def test_values_that_a_column_cannot_hold_are_written_once_it_can(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, database: SampleDatabase, connector: str
) -> None:
    create(barnabas.address, connector)
    database.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, age SMALLINT)")
    chosen = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id", **PLAIN_JSON}
    sink = table_sink(database.url, connector, "people", **chosen)
    write(barnabas.address, connector, ['{"id":1,"age":1}', '{"id":2,"age":70000}', "no JSON", '{"id":3,"age":3}'])
    connect_service.create(connector, sink)
    wait_for_trace(connect_service, connector, "FAILED", f"a record of {connector}-0 at offset", "errors.tolerance=all")
    letters = f"{connector}-letters"
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": letters,
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    connect_service.create(connector, {**sink, **tolerant})
    assert sorted(wait_for_values(barnabas.address, letters, 2)) == ["no JSON", '{"id":2,"age":70000}']
    wait_for(lambda: _count(database) == 2, "the good rows")
    database.execute("ALTER TABLE people ALTER COLUMN age TYPE BIGINT")
    told = _dead_letters(connect_service, barnabas, "show", connector)
    assert "out of range for type smallint" in told
    assert "VALUE_CONVERTER" in told
    assert "sent 2 records again" in _dead_letters(connect_service, barnabas, "replay", connector, "--yes")
    wait_for(lambda: _count(database) == 3, "the row that fits now")
    wait_for_values(barnabas.address, letters, 3)
    assert values(barnabas.address, letters)[2] == "no JSON"


def test_a_password_that_has_expired(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, mariadb: MariaDb, connector: str
) -> None:
    url = mariadb.create_database()
    database = SampleDatabase("mariadb", url)
    database.execute("CREATE TABLE things (id BIGINT PRIMARY KEY)", "INSERT INTO things VALUES (1)")
    mariadb.execute("CREATE OR REPLACE USER 'reader'@'127.0.0.1' IDENTIFIED BY 'former-s3cret'")
    mariadb.execute("GRANT ALL ON *.* TO 'reader'@'127.0.0.1'")
    login = {"connection.user": "reader", "connection.password": "former-s3cret"}
    source = table_source(f"{url.partition('?')[0]}?useSSL=false", "things", f"{connector}-", **login, **PLAIN_JSON)
    connect_service.create(connector, source)
    wait_for_values(barnabas.address, f"{connector}-things", 1)
    mariadb.execute("ALTER USER 'reader'@'127.0.0.1' IDENTIFIED BY 'new-s3cret'")
    mariadb.execute("KILL USER 'reader'@'127.0.0.1'")
    database.execute("INSERT INTO things VALUES (2)")
    wait_for_trace(connect_service, connector, "FAILED", "Access denied for user")
    changed = connect_service.call("PATCH", f"/connectors/{connector}/config", {"connection.password": "new-s3cret"})
    assert changed.status_code == 200, changed.text
    wait_for_values(barnabas.address, f"{connector}-things", 2)
    connect_service.wait_for_tasks(connector, ["RUNNING"])
    assert "s3cret" not in changed.text + str(connect_service.status(connector)) + connect_service.log.read_text()
    database.close()
    mariadb.drop_database(url)


def test_a_registry_that_is_away_is_waited_for_and_no_record_is_a_dead_letter(
    connect_service: ConnectProcess, barnabas: BarnabasBroker, connector: str, tmp_path: Path
) -> None:
    file, copy, port = tmp_path / "lines.txt", tmp_path / "copy.txt", free_port()
    file.write_text("one\ntwo\n")
    letters = f"{connector}-letters"
    own = {"kafkastore.topic": f"{connector}-schemas", "schema.registry.group.id": connector}
    registry = RegistryProcess(tmp_path / "registry", barnabas.address, port, own)
    avro = {
        "value.converter": "io.confluent.connect.avro.AvroConverter",
        "value.converter.schema.registry.url": f"http://{HOST}:{port}",
        "errors.tolerance": "all",
    }
    away = ("RUNNING", "cannot reach the schema registry")
    connect_service.create(connector, {**file_source(file, connector), **avro})
    wait_for_trace(connect_service, connector, *away)
    registry.start()
    wait_for_values(barnabas.address, connector, 2)
    registry.stop()
    sink = f"{connector}-sink"
    queue = {"errors.deadletterqueue.topic.name": letters, "errors.deadletterqueue.topic.replication.factor": "1"}
    connect_service.create(sink, {**file_sink(copy, connector, exactly_once=False), **avro, **queue})
    wait_for_trace(connect_service, sink, *away)
    registry.start()
    wait_for(lambda: copy.read_text() == "one\ntwo\n", "both lines")
    assert values(barnabas.address, letters) == []
    assert connect_service.call("DELETE", f"/connectors/{sink}").status_code == 204
    registry.stop()


def _count(database: SampleDatabase) -> int:
    return int(database.rows("SELECT count(*) FROM people")[0][0])


def _dead_letters(worker: ConnectProcess, broker: BarnabasBroker, verb: str, connector: str, *options: str) -> str:
    program = str(Path(sys.executable).with_name("barnabas"))
    where = ["--connect", worker.url, "--bootstrap-servers", broker.address]
    done = subprocess.run(
        [program, "connectors", "dlq", verb, connector, *where, *options],
        capture_output=True, text=True, timeout=CLI_DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
