"""What groups leave in the log: the bytes are Kafka's, and Kafka's own tool reads them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from barnabas.wire.records import framing
from barnabas.wire.records.group_offsets import OffsetCommitKey, OffsetCommitValue
from core_broker.coordinators.groups.offset_record import (
    EXPIRING_VALUE_VERSION,
    NO_TOPIC_ID,
    VALUE_VERSION,
    encode_key,
    encode_value,
)
from core_broker.coordinators.record import (
    NOT_TRANSACTIONAL,
    CoordinatorRecord,
    EncodedRecord,
    TransactionalWriter,
    encode_batch,
    encode_ready,
)
from tests.core_broker.coordinators.groups.group_client import GroupClient
from tests.core_broker.faults.hosted_broker import HostedBroker

TOOL = "org.apache.kafka.tools.DumpLogSegments"
TIMEOUT_S = 180
_LINE = re.compile(r"key: (\{.*?\}) payload: (.*)")

NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)
SMALL_NUMBERS = st.integers(-(1 << 31), (1 << 31) - 1)
NOTES = st.text(max_size=300)
TOPIC_IDS = st.one_of(st.just(NO_TOPIC_ID), st.binary(min_size=16, max_size=16))


@given(group=st.text(max_size=200), topic=st.text(max_size=200), partition=SMALL_NUMBERS)
def test_keys_are_what_the_declaration_says(group: str, topic: str, partition: int) -> None:
    declared = OffsetCommitKey(group=group, topic=topic, partition=partition)
    assert encode_key(group, topic, partition) == framing.encode_key(declared)


@given(offset=NUMBERS, epoch=SMALL_NUMBERS, note=NOTES, now_ms=NUMBERS, topic_id=TOPIC_IDS)
def test_values_are_what_the_declaration_says(offset: int, epoch: int, note: str, now_ms: int, topic_id: bytes) -> None:
    declared = OffsetCommitValue(
        offset=offset, leader_epoch=epoch, metadata=note, commit_timestamp=now_ms, topic_id=topic_id
    )
    encoded = encode_value(offset, epoch, note, now_ms, None, topic_id)
    assert encoded == framing.encode_versioned(declared, VALUE_VERSION)


@given(offset=NUMBERS, note=NOTES, now_ms=NUMBERS, expire_ms=NUMBERS)
def test_values_that_expire_are_what_the_declaration_says(offset: int, note: str, now_ms: int, expire_ms: int) -> None:
    declared = OffsetCommitValue(offset=offset, metadata=note, commit_timestamp=now_ms, expire_timestamp=expire_ms)
    encoded = encode_value(offset, 7, note, now_ms, expire_ms, b"x" * 16)
    assert encoded == framing.encode_versioned(declared, EXPIRING_VALUE_VERSION)


@given(
    offsets=st.lists(st.tuples(st.text(max_size=40), NUMBERS, NOTES), min_size=1, max_size=5),
    writer=st.sampled_from((NOT_TRANSACTIONAL, TransactionalWriter(5, 3))),
)
def test_batches_of_ready_records_are_like_others(
    offsets: list[tuple[str, int, str]], writer: TransactionalWriter
) -> None:
    records = [
        CoordinatorRecord(
            OffsetCommitKey(group=group, topic="t", partition=1),
            OffsetCommitValue(offset=offset, metadata=note, commit_timestamp=9),
            VALUE_VERSION,
        )
        for group, offset, note in offsets
    ]
    ready = [
        EncodedRecord(encode_key(group, "t", 1), encode_value(offset, -1, note, 9, None, NO_TOPIC_ID))
        for group, offset, note in offsets
    ]
    assert encode_ready(ready, 1000, writer) == encode_batch(records, 1000, writer)


def dumped(java: Path, jars: Path, folder: Path) -> list[tuple[Any, Any]]:
    """The records of the offsets topic as Kafka's tool prints them."""
    files = [str(path) for path in sorted(folder.glob("__consumer_offsets-*/*.log")) if path.stat().st_size]
    command = [str(java), "-Xmx256M", "-cp", f"{jars}/*", TOOL, "--offsets-decoder", "--files", ",".join(files)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 0, result.stderr
    found = []
    for line in result.stdout.splitlines():
        if line.startswith("| "):
            match = _LINE.search(line)
            assert match is not None, line
            key = json.loads(match[1])
            found.append((key, None if match[2] == "<DELETE>" else json.loads(match[2])))
    return found


def test_kafkas_dump_tool_reads_groups_and_offsets(java: Path, kafka_jars: Path, tmp_path: Path) -> None:
    with (
        HostedBroker(tmp_path, {"group.initial.rebalance.delay.ms": "0"}) as hosted,
        GroupClient(hosted.address) as client,
    ):
        client.find("g")
        client.create("t", 2)
        member = client.enter("g", instance="i")
        client.commit("g", "t", {0: 7, 1: 8}, member=member, generation=1, metadata="a note")
        client.leave("g", member)
        client.commit("h", "t", {0: 1})
        client.delete_group("h")
    records = dumped(java, kafka_jars, tmp_path)
    groups = [value["data"] for key, value in records if key == {"type": "2", "data": {"group": "g"}}]
    assert [(value["generation"], value["protocolType"], len(value["members"])) for value in groups] == [
        (0, "", 0),
        (1, "consumer", 1),
        (2, "consumer", 0),
    ]
    (described,) = groups[1]["members"]
    assert (described["memberId"], described["groupInstanceId"]) == (member, "i")
    assert described["subscription"]["topics"] == ["t"]
    assert described["assignment"]["assignedPartitions"] == [{"topic": "t", "partitions": [0]}]
    offsets = [(key["data"], value["data"]) for key, value in records if key["type"] == "1" and value]
    assert [(key["group"], key["partition"], value["offset"], value["metadata"]) for key, value in offsets] == [
        ("g", 0, 7, "a note"),
        ("g", 1, 8, "a note"),
        ("h", 0, 1, ""),
    ]
    assert len({value["topicId"] for _, value in offsets}) == 1
    deleted = [key["data"] for key, value in records if value is None]
    assert deleted == [{"group": "h", "topic": "t", "partition": 0}, {"group": "h"}]
