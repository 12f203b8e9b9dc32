"""`barnabas config`, and how settings reach the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

# The settings of the server.properties that Apache Kafka 4.3.0 ships, without its comments.
SERVER_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""

# The variables of the compose file in the documentation of the apache/kafka image.
IMAGE_VARIABLES = {
    "KAFKA_NODE_ID": "1",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_LISTENERS": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    "KAFKA_NUM_PARTITIONS": "3",
    "KAFKA_HEAP_OPTS": "-Xmx1g",
}


def rows(output: str) -> dict[str, tuple[str, str]]:
    """Return value and source by name; the columns are two or more blanks apart."""
    table: dict[str, tuple[str, str]] = {}
    for line in output.splitlines():
        if not line.startswith("#"):
            name, _, rest = line.partition(" ")
            value, _, source = rest.strip().rpartition("  ")
            table[name] = (value.strip(), source)
    return table


def test_defaults_listen_on_this_machine_and_keep_data_here(run: Run) -> None:
    done = run("config", "broker")
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    assert table["listeners"] == ("PLAINTEXT://127.0.0.1:9092", "default, this machine only")
    assert table["log.dirs"] == ("barnabas-data/broker", "data.dir, default")
    assert table["log.segment.bytes"] == ("1073741824", "default")
    assert table["log.level"] == ("info", "default")


def test_every_source_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("# mine\nnum.partitions=2\nlog.retention.hours=1\n")
    done = run(
        *("config", "--config", "server.properties", "--set", "log.roll.hours=9", "--data-dir", "elsewhere"),
        BARNABAS_NUM_IO_THREADS="4",
        KAFKA_LOG_RETENTION_HOURS="2",
    )
    table = rows(done.stdout)
    assert table["num.partitions"] == ("2", "server.properties:2")
    assert table["log.retention.hours"] == ("2", "KAFKA_LOG_RETENTION_HOURS")
    assert table["num.io.threads"] == ("4", "BARNABAS_NUM_IO_THREADS")
    assert table["log.roll.hours"] == ("9", "command line")
    assert table["log.dirs"] == ("elsewhere/broker", "data.dir, command line")


def test_secrets_are_masked(run: Run) -> None:
    done = run("config", "--set", "ssl.key.password=hunter2")
    assert rows(done.stdout)["ssl.key.password"] == ("[hidden]", "command line")
    assert "hunter2" not in done.stdout + done.stderr


def test_the_properties_file_of_kafka_is_taken_as_it_is(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text(SERVER_PROPERTIES)
    done = run("config", "broker", "--config", "server.properties")
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    for line in SERVER_PROPERTIES.split():
        name, _, value = line.partition("=")
        assert table[name][0] == value
        assert table[name][1].startswith("server.properties:")


def test_the_variables_of_the_kafka_image_are_taken_as_they_are(run: Run) -> None:
    done = run("config", "broker", **IMAGE_VARIABLES)
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    assert table["num.partitions"] == ("3", "KAFKA_NUM_PARTITIONS")
    assert table["listeners"][1] == "KAFKA_LISTENERS"
    assert "passed over" not in done.stdout


def test_a_flag_for_the_data_directory_wins_over_log_dirs_of_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("log.dirs=/from/file\n")
    words = ("config", "--config", "server.properties")
    assert rows(run(*words).stdout)["log.dirs"] == ("/from/file", "server.properties:1")
    flagged = rows(run(*words, "--data-dir", "mine").stdout)
    assert flagged["log.dirs"] == ("mine/broker", "data.dir, command line")
    both = rows(run(*words, "--data-dir", "mine", "--set", "log.dirs=/exact").stdout)
    assert both["log.dirs"] == ("/exact", "command line")


@pytest.mark.parametrize("command", [("config",), ("serve", "broker"), ("up",)])
def test_an_unknown_setting_is_an_error_with_the_nearest_name(run: Run, tmp_path: Path, command: tuple[str]) -> None:
    done = run(*command, "--set", "num.partition=2")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "barnabas: command line: num.partition='2': there is no such setting; did you mean num.partitions?\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_malformed_setting_is_an_error_with_its_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("num.partitions=many\n")
    done = run("config", "--config", "server.properties")
    assert done.returncode == 2
    assert done.stderr == "barnabas: server.properties:1: num.partitions='many': expected a whole number\n"


def test_docs_say_what_a_setting_means(run: Run) -> None:
    lines = run("config", "broker", "--docs").stdout.splitlines()
    after = [lines[index + 1] for index, line in enumerate(lines) if line.startswith("data.dir ")]
    assert after == ["    Folder that holds the data, one folder in it for each service."]
