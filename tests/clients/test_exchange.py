"""Segment files of ours in Apache Kafka, and its files in ours: the formats on disk are the same."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker import BrokerProcess
from tests.clients.confluent_client import ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import CODECS, EPOCH_MS, KEEP_FOREVER, Record, edge_cases, stored_batches
from tests.conftest import StartBroker
from tests.oracle import ApacheKafka

TOPIC = "exchanged"
# Kafka's smallest; the records below fill several segments.
SEGMENT_BYTES = 1024 * 1024
CONFIGS = {**KEEP_FOREVER, "segment.bytes": str(SEGMENT_BYTES)}
RECORDS_PER_CODEC = 600
# What names the topic stays with its broker; all else moves.
STAYS = "partition.metadata"


@pytest.fixture
def own_kafka(java: Path, kafka_jars: Path, tmp_path: Path) -> Iterator[ApacheKafka]:
    kafka = ApacheKafka(tmp_path / "kafka", java, kafka_jars)
    kafka.start()
    yield kafka
    if kafka.is_running():
        kafka.stop()


def test_apache_kafka_reads_our_segments(start_broker: StartBroker, own_kafka: ApacheKafka) -> None:
    ours = start_broker()
    written = fill(ours)
    check_handover(ours, own_kafka, written)


def test_we_read_the_segments_of_apache_kafka(start_broker: StartBroker, own_kafka: ApacheKafka) -> None:
    written = fill(own_kafka)
    check_handover(own_kafka, start_broker(), written)


def test_dump_log_segments_has_no_complaint(start_broker: StartBroker, java_tools: JavaTools) -> None:
    ours = start_broker()
    written = fill(ours)
    ours.stop()
    folder = ours.log_dir / f"{TOPIC}-0"
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".log", ".index", ".timeindex", ".snapshot")]
    assert {path.suffix for path in files} == {".log", ".index", ".timeindex", ".snapshot"}
    printed = dump(java_tools, files, "--deep-iteration", "--print-data-log")
    lines = printed.splitlines()
    assert sum(line.startswith("| offset:") for line in lines) == len(written)
    assert all("isvalid: true" in line for line in lines if line.startswith("baseOffset:"))
    indexes = [path for path in files if path.suffix in (".index", ".timeindex")]
    dump(java_tools, indexes, "--index-sanity-check")


def test_dump_log_segments_decodes_our_cluster_metadata(start_broker: StartBroker, java_tools: JavaTools) -> None:
    ours = start_broker()
    create_topic(ours.address, TOPIC, 2, CONFIGS)
    ours.stop()
    files = sorted((ours.log_dir / "__cluster_metadata-0").glob("*.log"))
    printed = dump(java_tools, files, "--cluster-metadata-decoder", "--skip-record-metadata")
    assert f'{{"type":"TOPIC_RECORD","version":0,"data":{{"name":"{TOPIC}"' in printed
    assert printed.count('"type":"PARTITION_RECORD"') == 2
    assert '"name":"segment.bytes","value":"1048576"' in printed


def fill(broker: BrokerProcess) -> list[Record]:
    """Make the topic and write some segments of records to it, with every codec and with sequence numbers."""
    create_topic(broker.address, TOPIC, configs=CONFIGS)
    dice = random.Random(1)
    written = edge_cases()
    ConfluentClient().produce(broker.address, TOPIC, written)
    for codec in CODECS:
        records = [
            Record(b"%d" % n, dice.randbytes(900), (("codec", codec.encode()),), EPOCH_MS + len(written) + n)
            for n in range(RECORDS_PER_CODEC)
        ]
        ConfluentClient().produce(broker.address, TOPIC, records, codec, enable_idempotence=True, batch_size=50_000)
        written += records
    return written


def check_handover(giver: BrokerProcess, taker: BrokerProcess, written: list[Record]) -> None:
    """Give the taker the giver's files; it must serve every record, and go on writing after the last one."""
    giver.stop()
    create_topic(taker.address, TOPIC, configs=CONFIGS)
    # A broker may wait for the first record before it makes the folder.
    ConfluentClient().produce(taker.address, TOPIC, [Record(b"to be", b"replaced")])
    taker.stop()
    move(giver.log_dir / f"{TOPIC}-0", taker.log_dir / f"{TOPIC}-0")
    assert len(list((taker.log_dir / f"{TOPIC}-0").glob("*.log"))) > 2
    taker.start()
    read = ConfluentClient().consume(taker.address, TOPIC, len(written))
    assert [r.offset for r in read] == list(range(len(written)))
    assert [r.record for r in read] == written
    # In the middle of a later segment, found through the index that came along.
    middle = len(written) * 3 // 4
    assert [r.record for r in ConfluentClient().consume(taker.address, TOPIC, 10, middle)] == written[middle:][:10]
    more = [Record(b"more", b"after the exchange")]
    ConfluentClient().produce(taker.address, TOPIC, more, enable_idempotence=True)
    (last,) = ConfluentClient().consume(taker.address, TOPIC, 1, len(written))
    assert last.record == more[0]
    batches = stored_batches(taker.log_dir, TOPIC)
    assert batches[-1].base_offset == len(written)


def move(source: Path, target: Path) -> None:
    for path in target.iterdir():
        if path.name != STAYS:
            path.unlink()
    for path in source.iterdir():
        if path.name != STAYS:
            shutil.copy(path, target / path.name)


def dump(java_tools: JavaTools, files: list[Path], *options: str) -> str:
    """Run the tool over the files; it ends well even when it finds faults, so its words are looked at too."""
    names = ",".join(str(path) for path in files)
    printed = java_tools.run("org.apache.kafka.tools.DumpLogSegments", "--files", names, *options)
    for complaint in ("invalid bytes at the end", "Mismatches in", "Non-consecutive offsets", "isvalid: false"):
        assert complaint not in printed, printed
    return printed
