"""kafka-producer-perf-test and kafka-consumer-perf-test: the lines of Kafka's own tools, and figures that add up."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from barnabas.kafka_tools.console.producer_stats import ProducerStats, percentiles
from barnabas.kafka_tools.main import call
from tests.clients.java_client import JavaTools

PRODUCER = "kafka-producer-perf-test"
CONSUMER = "kafka-consumer-perf-test"
NUMBER = r"\d+(?:\.\d+)?"


@pytest.fixture
def java_tools(java: Path, kafka_jars: Path) -> JavaTools:
    return JavaTools(java, kafka_jars)


def shape(text: str) -> list[str]:
    """Lines with their numbers replaced by the count of digits behind the point."""
    digits = re.compile(r"\d+(\.\d+)?")
    return [digits.sub(lambda found: f"#{len(found[1] or '.') - 1}", line) for line in text.splitlines()]


def test_both_tools_print_lines_of_the_same_shape(
    broker_address: str, topic: str, java_tools: JavaTools, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--bootstrap-server", broker_address, "--topic", topic]
    produce = [*at, "--num-records", "3000", "--record-size", "100", "--throughput", "-1", "--warmup-records", "1000"]
    consume = [*at, "--num-records", "6000"]
    assert call(PRODUCER, produce) == 0
    ours = capsys.readouterr().out
    theirs = java_tools.run("org.apache.kafka.tools.ProducerPerformance", *produce)
    assert shape(ours) == shape(theirs)
    assert ours.splitlines()[-2].startswith("3000 records sent, ")
    assert ours.splitlines()[-1].startswith("2000 steady state records sent, ")
    assert call(CONSUMER, consume) == 0
    ours = capsys.readouterr().out
    theirs = java_tools.run("org.apache.kafka.tools.ConsumerPerformance", *consume)
    assert shape(ours) == shape(theirs)
    columns = ours.splitlines()[1].split(", ")
    assert (columns[2], columns[4]) == (f"{600_000 / (1 << 20):.4f}", "6000")


def test_records_that_are_too_large_are_refused_one_by_one_before_they_are_sent(
    broker_address: str, topic: str, java_tools: JavaTools, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--bootstrap-server", broker_address, "--topic", topic, "--num-records", "3", "--throughput", "-1"]
    assert call(PRODUCER, [*words, "--record-size", "2000000"]) == 0
    ours = capsys.readouterr()
    theirs = java_tools.attempt("org.apache.kafka.tools.ProducerPerformance", *words, "--record-size", "2000000")
    refusals = [line for line in theirs.stderr.splitlines() if "RecordTooLarge" in line]
    assert len(refusals) == 3
    assert ours.err.splitlines() == refusals
    assert ours.out == theirs.stdout
    # The limit is a setting, and the last size that it allows is taken.
    limits = ["--record-size", "1000", "--command-property"]
    assert call(PRODUCER, [*words, *limits, "max.request.size=1086"]) == 0
    assert capsys.readouterr().out.startswith("3 records sent")
    assert call(PRODUCER, [*words, *limits, "max.request.size=1085"]) == 0
    assert "The message is 1086 bytes when serialized which is larger than 1085" in capsys.readouterr().err
    assert call(PRODUCER, [*words, *limits, "buffer.memory=1085"]) == 0
    assert "larger than the total memory buffer you have configured with the buffer.memory" in capsys.readouterr().err


def test_throughput_is_kept_and_transactions_are_committed(
    broker_address: str, topic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    payloads = tmp_path / "payloads"
    payloads.write_text("one,three,,")
    at = ["--bootstrap-server", broker_address, "--topic", topic, "--num-records", "500", "--throughput", "1000"]
    words = ["--payload-file", str(payloads), "--payload-delimiter", ",", "--transaction-duration-ms", "100"]
    assert call(PRODUCER, [*at, *words, "--reporting-interval", "200", "--print-metrics"]) == 0
    shown = capsys.readouterr().out
    assert f"Reading payloads from: {payloads}\nNumber of records read: 2\n" in shown
    assert re.search(r"^500 records sent, (?:9\d\d|10\d\d|[5-9]\d\d)\.\d+ records/sec", shown, re.MULTILINE)
    windows = re.findall(rf"^(\d+) records sent, .* {NUMBER} ms max latency\.$", shown, re.MULTILINE)
    assert windows
    assert "producer-metrics:record-error-total:{client-id=perf-producer-client} : 0.000" in shown
    committed = ["--num-records", "500", "--command-property", "isolation.level=read_committed", "--timeout", "10000"]
    assert call(CONSUMER, [*at[:4], *committed, "--show-detailed-stats", "--reporting-interval", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "time, threadId, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance"
    )
    assert all(len(line.split(", ")) == 10 for line in lines)


def test_too_few_records_are_told(broker_address: str, topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--bootstrap-server", broker_address, "--topic", topic]
    assert call(PRODUCER, [*at, "--num-records", "5", "--payload-monotonic", "--throughput", "-1"]) == 0
    capsys.readouterr()
    assert call(CONSUMER, [*at, "--messages", "10", "--timeout", "300", "--hide-header"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Warning: --messages is deprecated. Use --num-records instead."
    assert lines[1] == (
        "WARNING: Exiting before consuming the expected number of records: timeout (300 ms) exceeded. "
        "You can use the --timeout option to increase the timeout."
    )
    assert lines[2].split(", ")[4] == "5"


def test_statistics_are_those_of_kafka() -> None:
    now_ms = 0
    out = io.StringIO()
    stats = ProducerStats(1000, 100, out, lambda: now_ms)
    for number in range(10):
        now_ms = 11 * (number + 1)
        stats.record(number, 100, 10_000, now_ms)
    stats.print_total()
    assert out.getvalue() == (
        "1000 records sent, 9090.9 records/sec (0.87 MB/sec), 4.5 ms avg latency, 9.0 ms max latency.\n"
        "1000 records sent, 9090.909091 records/sec (0.87 MB/sec), 4.50 ms avg latency, 9.00 ms max latency, "
        "5 ms 50th, 9 ms 95th, 9 ms 99th, 9 ms 99.9th.\n"
    )


def test_the_steady_state_is_announced_with_its_first_window() -> None:
    now_ms = 0
    out = io.StringIO()
    stats = ProducerStats(1000, 100, out, lambda: now_ms, steady=True)
    for now_ms in (50, 100, 200):
        stats.record(1, 10, 1000, now_ms)
    stats.print_total()
    heads = [re.sub(r"( state)?[., ].*", "", line) for line in out.getvalue().splitlines()]
    assert heads == ["In", "20", "10", "30"]


def test_of_many_records_only_samples_are_kept() -> None:
    out = io.StringIO()
    stats = ProducerStats(2_000_000, 1_000_000, out, lambda: 1)
    for latency_ms in range(200):
        stats.record(latency_ms, 10_000, 0, 1)
    stats.print_total()
    assert "99.50 ms avg latency, 199.00 ms max latency, 100 ms 50th, 190 ms 95th, 198 ms 99th" in out.getvalue()
    assert len(stats._latencies_ms) == 500_000


def test_percentiles_of_nothing_are_zero() -> None:
    assert percentiles([]) == [0, 0, 0, 0]
