"""The scripts: their names, how they end, and how little they import."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from barnabas.kafka_tools import main as commands
from tests.broker import BarnabasBroker

SCRIPTS = Path(sys.executable).parent
RUN_LIMIT_S = 180
# What makes a start slow and has no place in a tool that lists topics.
HEAVY = ("rich", "email", "http", "urllib", "argparse", "core_broker.configs", "core_broker.broker", "uvloop", "json")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)


def test_every_tool_has_a_script_with_and_without_sh() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    scripts = {name: at for name, at in project["project"]["scripts"].items() if name.startswith("kafka-")}
    assert set(scripts) == {name + end for name in commands.MODULES for end in ("", ".sh")}
    assert set(scripts.values()) == {"barnabas.kafka_tools.main:main"}


def test_a_script_lists_topics_and_loads_no_more_than_it_needs(barnabas: BarnabasBroker, topic: str) -> None:
    at = ("--bootstrap-server", barnabas.address)
    made = run(str(SCRIPTS / "kafka-topics.sh"), *at, "--create", "--topic", topic)
    assert (made.returncode, made.stdout) == (0, f"Created topic {topic}.\n")
    program = (
        "import sys; from barnabas.kafka_tools import main; "
        "status = main.call('kafka-topics', sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    listed = run(sys.executable, "-c", program, *at, "--list", "--topic", topic)
    assert (listed.returncode, listed.stdout) == (0, f"{topic}\n")
    loaded = listed.stderr.split()
    assert "barnabas.client.admin.session" in loaded
    assert [name for name in loaded if name.startswith(HEAVY)] == []


def test_a_reader_that_goes_away_ends_a_tool_quietly(barnabas: BarnabasBroker) -> None:
    words = [str(SCRIPTS / "kafka-broker-api-versions"), "--bootstrap-server", barnabas.address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        tool.stdout.close()
        assert tool.stderr.read() == ""
        assert tool.wait(RUN_LIMIT_S) == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "line",
    [
        "kafka-topics --list",
        "kafka-topics --describe --topic nope",
        "kafka-broker-api-versions",
        "kafka-cluster cluster-id",
    ],
)
def test_an_output_that_cannot_be_written_is_told_in_one_line(
    barnabas: BarnabasBroker, line: str, unbuffered: str
) -> None:
    tool, *words = line.split()
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [str(SCRIPTS / tool), *words, "--bootstrap-server", barnabas.address],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=RUN_LIMIT_S,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert (ended.returncode, ended.stderr) == (1, "cannot write the output: No space left on device\n")


def test_figures_that_cannot_be_written_end_the_measuring(barnabas: BarnabasBroker, topic: str) -> None:
    words = ["--topic", topic, "--num-records", "100000", "--record-size", "10", "--throughput", "1000"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [
                str(SCRIPTS / "kafka-producer-perf-test"),
                *("--bootstrap-server", barnabas.address, "--reporting-interval", "50"),
                *words,
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=RUN_LIMIT_S,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    assert (ended.returncode, ended.stderr) == (1, "cannot write the output: No space left on device\n")


def test_a_tool_without_standard_output_does_its_work(barnabas: BarnabasBroker) -> None:
    words = [str(SCRIPTS / "kafka-topics"), "--bootstrap-server", barnabas.address, "--list"]
    ended = run("sh", "-c", '"$@" >&-', "sh", *words)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("kafka-topics --bootstrap-server 127.0.0.1:1 --list --command-config", "--command-config"),
        ("kafka-configs --bootstrap-server 127.0.0.1:1 --alter --topic t --add-config-file", "--add-config-file"),
        ("kafka-cluster cluster-id --bootstrap-server 127.0.0.1:1 --config", "--config"),
        ("kafka-storage info -c", "--config"),
        ("kafka-console-consumer --bootstrap-server 127.0.0.1:1 --topic t --formatter-config", "--formatter-config"),
        (
            "kafka-console-consumer --bootstrap-server 127.0.0.1:1 --topic t --consumer.config",
            "--consumer.config",
        ),
        (
            (
                "kafka-producer-perf-test --bootstrap-server 127.0.0.1:1 --topic t --num-records 1 --throughput 1 "
                "--record-size 1 --producer.config"
            ),
            "--producer.config",
        ),
        (
            "kafka-consumer-perf-test --bootstrap-server 127.0.0.1:1 --topic t --num-records 1 --consumer.config",
            "--consumer.config",
        ),
        (
            "kafka-streams-application-reset --bootstrap-server 127.0.0.1:1 --application-id a --config-file",
            "--config-file",
        ),
        (
            (
                "kafka-leader-election --bootstrap-server 127.0.0.1:1 --election-type preferred "
                "--all-topic-partitions --admin.config"
            ),
            "--admin.config",
        ),
        ("kafka-verifiable-producer --bootstrap-server 127.0.0.1:1 --topic t --producer.config", "--producer.config"),
        (
            "kafka-verifiable-consumer --bootstrap-server 127.0.0.1:1 --topic t --group-id g --consumer.config",
            "--consumer.config",
        ),
    ],
)
def test_a_file_that_is_not_there_is_told_with_the_option_that_named_it(
    line: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tool, *words = line.split()
    assert commands.call(tool, [*words, "/nonexist"]) == 1
    wanted = f"/nonexist: No such file or directory. Give {option} a properties file that can be read."
    # Some tools fill lines, even in the middle of an option.
    assert wanted.replace(" ", "") in "".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("line", ["kafka-console-consumer", "kafka-consumer-perf-test --num-records 1"])
def test_an_include_that_is_no_expression_is_named(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    tool, *words = line.split()
    assert commands.call(tool, [*words, "--bootstrap-server", "127.0.0.1:1", "--include", "("]) == 1
    error = capsys.readouterr().err
    assert error.startswith("--include '(' is no regular expression: ")
    assert error.count("\n") == 1


def test_records_are_deleted_at_once_beside_a_topic_that_is_not_there(
    barnabas: BarnabasBroker, topic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--bootstrap-server", barnabas.address]
    assert commands.call("kafka-topics", [*at, "--create", "--topic", topic]) == 0
    (tmp_path / "client.properties").write_text("default.api.timeout.ms=400\n")
    (tmp_path / "offsets.json").write_text(
        '{"version": 1, "partitions": [{"topic": "nope", "partition": 0, "offset": 1},'
        f'{{"topic": "{topic}", "partition": 0, "offset": 0}}]}}'
    )
    capsys.readouterr()
    words = ["--offset-json-file", str(tmp_path / "offsets.json")]
    limits = ["--command-config", str(tmp_path / "client.properties")]
    assert commands.call("kafka-delete-records", [*at, *words, *limits]) == 0
    assert sorted(capsys.readouterr().out.splitlines()[2:]) == sorted(
        [
            f"partition: {topic}-0\tlow_watermark: 0",
            (
                "partition: nope-0\terror: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: "
                "This server does not host this topic-partition."
            ),
        ]
    )


def test_ctrl_c_ends_a_tool_as_a_jvm_ends() -> None:
    program = (
        "import signal, sys; from barnabas.kafka_tools import main; from barnabas.client.admin import session; "
        "session.Session.open = lambda *_, **__: signal.raise_signal(signal.SIGINT); "
        "sys.exit(main.call('kafka-topics', ['--list', '--bootstrap-server', 'x:1']))"
    )
    ended = run(sys.executable, "-c", program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
