"""What depends on the broker, asked by Kafka's tools and by ours, one after the other: the answers are the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.broker import BrokerProcess
from tests.clients.java_client import JavaTools
from tests.kafka_tools.scenario import run_java, run_ours

LINES = (
    "kafka-broker-api-versions --bootstrap-server {broker}",
    "kafka-features --bootstrap-server {broker} describe",
    "kafka-metadata-quorum --bootstrap-server {broker} describe --status",
    "kafka-configs --bootstrap-server {broker} --describe --broker 1 --all",
    "kafka-configs --bootstrap-server {broker} --describe --broker-logger 1",
)
# The metadata log may grow between the two.
GROWING = re.compile(r"(Epoch|HighWatermark): +\d+")


@pytest.mark.parametrize("line", LINES)
def test_ours_prints_what_kafkas_tool_prints_of_the_same_broker(
    line: str, broker: BrokerProcess, java: Path, kafka_jars: Path
) -> None:
    places = {"broker": broker.address}
    theirs, ours = run_java(JavaTools(java, kafka_jars), line, places), run_ours(line, places)
    assert (ours.status, ours.err) == (theirs.status, theirs.err) == (0, "")
    printed = [GROWING.sub(r"\1: <number>", outcome.out) for outcome in (ours, theirs)]
    assert len(printed[0]) > 100
    assert printed[0] == printed[1]
