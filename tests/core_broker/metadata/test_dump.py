"""Apache Kafka's own tool reads the metadata log and its snapshots."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from barnabas.wire.records.cluster_metadata import ConfigRecord, ProducerIdsRecord, RemoveTopicRecord, TopicRecord
from core_broker.context import Listener
from core_broker.log.disk import Disk
from core_broker.metadata.image import ResourceType
from core_broker.metadata.store import DIRECTORY_NAME, MetadataStore
from core_broker.metadata.topics import Node, partition_record

DUMP_DEADLINE_S = 180
NODE = Node(1, b"d" * 16)


def dumped(java: Path, kafka_jars: Path, file: Path) -> str:
    tool = "org.apache.kafka.tools.DumpLogSegments"
    command = [str(java), "-cp", f"{kafka_jars}/*", tool, "--cluster-metadata-decoder", "--files", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=DUMP_DEADLINE_S, check=True).stdout


def types(output: str) -> list[str]:
    return [json.loads(payload)["type"] for payload in re.findall(r"payload: (\{.*\})", output)]


def test_kafkas_tool_reads_the_log_and_the_snapshot(java: Path, kafka_jars: Path, tmp_path: Path) -> None:
    store = MetadataStore.open(tmp_path, NODE, disk=Disk(), clock_ms=lambda: 1_700_000_000_000)
    store.begin([Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)], "r", unclean=False)
    for name in ("kept", "gone"):
        topic_id = name.encode() * 4
        store.append([TopicRecord(name=name, topic_id=topic_id), partition_record(NODE, topic_id, 0)])
    retention = ConfigRecord(resource_type=ResourceType.TOPIC, resource_name="kept", name="retention.ms", value="5")
    store.append([retention, RemoveTopicRecord(topic_id=b"gone" * 4)])
    store.append([ProducerIdsRecord(broker_id=1, broker_epoch=store.broker_epoch, next_producer_id=1000)])

    log = dumped(java, kafka_jars, tmp_path / DIRECTORY_NAME / f"{0:020}.log")
    assert "isvalid: false" not in log
    assert "LeaderChange" in log
    assert types(log) == [
        *["FEATURE_LEVEL_RECORD"] * len(MetadataStore.supported_features),
        "CONFIG_RECORD",
        "REGISTER_BROKER_RECORD",
        *("TOPIC_RECORD", "PARTITION_RECORD") * 2,
        "CONFIG_RECORD",
        "REMOVE_TOPIC_RECORD",
        "PRODUCER_IDS_RECORD",
    ]

    store.snapshot()
    (file,) = (tmp_path / DIRECTORY_NAME).glob("*.checkpoint")
    snapshot = dumped(java, kafka_jars, file)
    assert "isvalid: false" not in snapshot
    assert f"Snapshot end offset: {store.image.offset + 1}, epoch: 1" in snapshot
    assert "SnapshotHeader" in snapshot
    assert "SnapshotFooter" in snapshot
    assert types(snapshot) == [
        *["FEATURE_LEVEL_RECORD"] * len(MetadataStore.supported_features),
        "REGISTER_BROKER_RECORD",
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        *["CONFIG_RECORD"] * 2,
        "PRODUCER_IDS_RECORD",
    ]
