"""kafka-console-producer and kafka-console-consumer, beside Kafka's own on the same broker."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.console import deserializers, formatters
from barnabas.kafka_tools.console.deserializers import DeserializationError
from barnabas.kafka_tools.main import call
from barnabas.kernel.java.date_format import format_time
from barnabas.wire.batch import Record
from barnabas.wire.records.framing import encode_key, encode_versioned
from barnabas.wire.records.group_offsets import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from tests.clients.java_client import JavaTools

PRODUCER = "kafka-console-producer"
CONSUMER = "kafka-console-consumer"
JAVA_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
JAVA_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
ENDING_DEADLINE_S = 90
TIMEOUT_MS = "20000"
PLACE = TopicPartition("t", 0)

Write = Callable[..., int]


@pytest.fixture
def java_tools(java: Path, kafka_jars: Path) -> JavaTools:
    return JavaTools(java, kafka_jars)


@pytest.fixture
def write(broker_address: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Run our console producer in this process, with a text as standard input."""

    def run(text: str, *words: str) -> int:
        path = tmp_path / "input"
        path.write_text(text, newline="")
        with path.open() as file, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", file)
            return call(PRODUCER, ["--bootstrap-server", broker_address, "--topic", topic, *words])

    return run


def read_words(address: str, topic: str, count: int, *words: str) -> list[str]:
    return [
        *("--bootstrap-server", address, "--topic", topic, "--partition", "0", "--offset", "earliest"),
        *("--max-messages", str(count), "--timeout-ms", TIMEOUT_MS, *words),
    ]


def properties(option: str, *pairs: str) -> list[str]:
    return [word for pair in pairs for word in (option, pair)]


PARTS = [f"print.{part}=true" for part in ("key", "offset", "partition", "headers", "timestamp", "epoch", "delivery")]
LINES = "h:1,g:2\tk1\tv1\nh:N\tN\tN\nh:ä:b\tschlüssel\twert\twert\nN\tk\t\n"
READER = properties("--reader-property", "parse.key=true", "parse.headers=true", "null.marker=N")


def test_both_consumers_show_what_both_producers_write(
    broker_address: str, topic: str, java_tools: JavaTools, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(LINES, *READER) == 0
    java_tools.run(JAVA_PRODUCER, "--bootstrap-server", broker_address, "--topic", topic, *READER, text=LINES)
    shown = properties("--formatter-property", *PARTS, "key.separator=|", "headers.separator=;", "null.literal=NIL")
    words = read_words(broker_address, topic, 8, *shown)
    capsys.readouterr()
    assert call(CONSUMER, words) == 0
    ours = capsys.readouterr()
    theirs = java_tools.attempt(JAVA_CONSUMER, *words)
    assert ours.out == theirs.stdout
    assert ours.err == "Processed a total of 8 messages\n"
    assert "Processed a total of 8 messages\n" in theirs.stderr
    without_place = [re.sub(r"^CreateTime:\d+\|Partition:0\|Offset:\d+\|", "", line) for line in ours.out.splitlines()]
    assert without_place[:4] == without_place[4:]
    assert without_place[1] == "Delivery:NOT_PRESENT|Epoch:NOT_PRESENT|h:NIL|NIL|NIL"


@pytest.mark.parametrize("words", [(), ("--sync",), ("--compression-codec",), ("--request-required-acks", "0")])
def test_lines_end_as_in_java(
    broker_address: str, topic: str, write: Write, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert write("one\r\ntwo\rthree\n\nlast", *words) == 0
    assert call(CONSUMER, read_words(broker_address, topic, 5)) == 0
    assert capsys.readouterr().out == "one\ntwo\nthree\n\nlast\n"


@pytest.mark.parametrize(
    ("line", "words", "complaint"),
    [
        ("novalue", ["parse.key=true"], "No key separator found on line number 1: 'novalue'"),
        ("novalue", ["parse.headers=true"], "No headers delimiter found on line number 1: 'novalue'"),
        ("a\tv", ["parse.headers=true"], "No header key separator found in pair 'a' on line number 1"),
        ("N:1\tv", ["parse.headers=true", "null.marker=N"], "Header keys should not be equal to the null marker 'N'"),
    ],
)
def test_a_line_that_lacks_something_ends_it(
    write: Write, line: str, words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(line, *properties("--reader-property", *words)) == 1
    assert complaint in capsys.readouterr().err


def test_a_line_that_lacks_something_passes_if_told_so(
    broker_address: str, topic: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    lenient = properties("--reader-property", "parse.key=true", "parse.headers=true", "ignore.error=true")
    assert write("plain\nflag\tkey\tvalue\n", *lenient) == 0
    shown = properties("--formatter-property", "print.key=true", "print.headers=true")
    assert call(CONSUMER, read_words(broker_address, topic, 2, *shown)) == 0
    assert capsys.readouterr().out == "NO_HEADERS\tnull\tplain\nflag:null\tkey\tvalue\n"


def test_nobody_there_is_told_and_is_no_failure(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in Kafka: the producer logs what was lost, and its status is 0."""
    path = tmp_path / "input"
    path.write_text("lost\n")
    with path.open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        words = ["--bootstrap-server", "127.0.0.1:1", "--topic", topic, "--max-block-ms", "200"]
        assert call(PRODUCER, words) == 0
    said = capsys.readouterr().err
    assert f"Error when sending message to topic {topic} with key: null, value: 4 bytes with error:" in said
    assert (
        f"org.apache.kafka.common.errors.TimeoutException: Topic {topic} not present in metadata after 200 ms." in said
    )


def test_a_group_goes_on_where_it_stopped(
    broker_address: str, topic: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("1\n2\n3\n4\n5\n")
    words = ["--bootstrap-server", broker_address, "--topic", topic, "--group", topic, "--from-beginning"]
    capsys.readouterr()
    assert call(CONSUMER, [*words, "--max-messages", "2", "--timeout-ms", TIMEOUT_MS]) == 0
    assert call(CONSUMER, [*words, "--max-messages", "3", "--timeout-ms", TIMEOUT_MS]) == 0
    captured = capsys.readouterr()
    assert captured.out == "1\n2\n3\n4\n5\n"
    assert "Processed a total of 2 messages\n" in captured.err


def test_silence_ends_it_after_the_timeout(
    broker_address: str, topic: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("only\n")
    words = ["--bootstrap-server", broker_address, "--topic", topic, "--partition", "0", "--from-beginning"]
    capsys.readouterr()
    assert call(CONSUMER, [*words, "--timeout-ms", "300"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "only\n"
    assert "org.apache.kafka.common.errors.TimeoutException\n" in captured.err
    assert captured.err.endswith("Processed a total of 1 messages\n")


def test_what_cannot_be_shown_ends_it_or_is_skipped(
    broker_address: str, topic: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("four\nlonger\n")
    integers = ("--value-deserializer", "org.apache.kafka.common.serialization.IntegerDeserializer")
    capsys.readouterr()
    assert call(CONSUMER, read_words(broker_address, topic, 2, *integers)) == 1
    captured = capsys.readouterr()
    assert captured.out == "1718580594\n"
    assert "Size of data received by IntegerDeserializer is not 4" in captured.err
    assert call(CONSUMER, read_words(broker_address, topic, 2, *integers, "--skip-message-on-error")) == 0
    assert "Error processing message, skipping this message" in capsys.readouterr().err


def consumer_process(address: str, topic: str, output: int) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).with_name(CONSUMER)
    words = ["--bootstrap-server", address, "--topic", topic, "--partition", "0", "--from-beginning"]
    return subprocess.Popen([str(program), *words], stdout=output, stderr=subprocess.PIPE)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_count(
    broker_address: str, topic: str, write: Write, number: signal.Signals, status: int
) -> None:
    write("1\n2\n")
    with consumer_process(broker_address, topic, subprocess.PIPE) as process:
        assert process.stdout is not None
        assert [process.stdout.readline(), process.stdout.readline()] == [b"1\n", b"2\n"]
        process.send_signal(number)
        _, said = process.communicate(timeout=ENDING_DEADLINE_S)
    assert (process.returncode, said) == (status, b"Processed a total of 2 messages\n")


def test_a_reader_that_goes_away_ends_it(broker_address: str, topic: str, write: Write) -> None:
    write("".join(f"{number}\n" for number in range(2000)))
    with consumer_process(broker_address, topic, subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        # What is in the pipe already is not missed: more makes it notice.
        deadline_s = time.monotonic() + ENDING_DEADLINE_S
        while process.poll() is None and time.monotonic() < deadline_s:
            write("more\n")
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 0
    assert b"Unable to write to standard out, closing consumer.\n" in said
    assert b"Processed a total of " in said


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("StringDeserializer", "ä".encode(), "ä"),
        ("IntegerDeserializer", b"\xff\xff\xff\xfe", "-2"),
        ("LongDeserializer", bytes(7) + b"\x05", "5"),
        ("ShortDeserializer", b"\x01\x00", "256"),
        ("FloatDeserializer", b"\x3d\xcc\xcc\xcd", "0.1"),
        ("DoubleDeserializer", b"\x41\x63\x12\xd0\x00\x00\x00\x00", "1.0E7"),
        ("BooleanDeserializer", b"\x01", "true"),
        ("UUIDDeserializer", b"123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("BytesDeserializer", b"a\x00\xff", "a\\x00\\xFF"),
    ],
)
def test_deserializers_show_what_javas_show(name: str, data: bytes, text: str) -> None:
    found = deserializers.find(f"org.apache.kafka.common.serialization.{name}")
    assert found is not None
    assert found(data) == text


@pytest.mark.parametrize("name", ["IntegerDeserializer", "LongDeserializer", "BooleanDeserializer", "UUIDDeserializer"])
def test_deserializers_refuse_what_is_not_theirs(name: str) -> None:
    found = deserializers.find(name)
    assert found is not None
    with pytest.raises(DeserializationError):
        found(b"abc")


def test_formatters_of_internal_topics_write_kafkas_json() -> None:
    """Kafka writes one object after the other, without line ends, and leaves out records of other kinds."""
    commit = Record(
        0,
        0,
        encode_key(OffsetCommitKey(group="g", topic="t", partition=1)),
        encode_versioned(OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp=7), 3),
    )
    group = Record(
        1, 0, encode_key(GroupMetadataKey(group="g")), encode_versioned(GroupMetadataValue(protocol_type="consumer"), 3)
    )
    deleted = Record(2, 0, commit.key, None)
    unknown = Record(3, 0, b"\x7f\x00", b"")
    offsets = formatters.find("org.apache.kafka.tools.consumer.OffsetsMessageFormatter", {})
    groups = formatters.find("kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter", {})
    assert offsets is not None
    assert groups is not None
    key = '"key":{"type":1,"data":{"group":"g","topic":"t","partition":1}}'
    value = '"value":{"version":3,"data":{"offset":5,"leaderEpoch":2,"metadata":"m","commitTimestamp":7}}'
    assert [offsets(one, PLACE, False).decode() for one in (commit, group, deleted, unknown)] == [
        f"{{{key},{value}}}",
        "",
        f'{{{key},"value":null}}',
        "",
    ]
    assert groups(commit, PLACE, False) == b""
    assert groups(group, PLACE, False).startswith(b'{"key":{"type":2,"data":{"group":"g"}},"value":{"version":3,')


def test_times_are_written_by_javas_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert format_time("yyyy-MM-dd HH:mm:ss:SSS", 1_700_000_000_007) == "2023-11-14 22:13:20:007"
    assert format_time("d MMM yy 'at' h''mm", 1_700_000_000_007) == "14 Nov 23 at 10'13"
    with pytest.raises(ValueError, match="Illegal pattern character 'Q'"):
        format_time("Q", 0)
