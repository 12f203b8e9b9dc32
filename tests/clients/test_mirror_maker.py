"""MirrorMaker 2 (Java 4.3.0) from one broker of ours to the broker under test: records, configs, and the offsets of groups."""

from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.clients.confluent_client import ADMIN_DEADLINE_S, ConfluentClient, create_topic
from tests.clients.java_client import JavaTools
from tests.clients.records import KEEP_FOREVER, numbered
from tests.conftest import StartBroker
from tests.waiting import wait_for

MIRROR_DEADLINE_S = 280
RECORDS = 500
COMMITTED = 120


def test_records_and_offsets_are_mirrored(
    broker_address: str, start_broker: StartBroker, java_tools: JavaTools, topic: str, tmp_path: Path
) -> None:
    origin = start_broker()
    create_topic(origin.address, topic, 1, KEEP_FOREVER)
    ConfluentClient().produce(origin.address, topic, numbered(RECORDS))
    group = f"group-{topic}"
    _commit(origin.address, group, TopicPartition(topic, 0, COMMITTED))
    settings = tmp_path / "mirror.properties"
    settings.write_text(
        f"clusters=a,b\na.bootstrap.servers={origin.address}\nb.bootstrap.servers={broker_address}\n"
        f"a->b.enabled=true\nb->a.enabled=false\na->b.topics={topic}\na->b.groups={group}\n"
        "a->b.sync.group.offsets.enabled=true\na->b.emit.heartbeats.enabled=false\nb->a.emit.heartbeats.enabled=false\n"
        "replication.factor=1\noffset.lag.max=0\nrefresh.topics.interval.seconds=1\nrefresh.groups.interval.seconds=1\n"
        "emit.checkpoints.interval.seconds=1\nsync.group.offsets.interval.seconds=1\n"
        "checkpoints.topic.replication.factor=1\nheartbeats.topic.replication.factor=1\n"
        "offset-syncs.topic.replication.factor=1\noffset.storage.replication.factor=1\n"
        "status.storage.replication.factor=1\nconfig.storage.replication.factor=1\noffset.flush.interval.ms=500\n"
    )
    mirrored = f"a.{topic}"
    with java_tools.running("org.apache.kafka.connect.mirror.MirrorMaker", str(settings), log=tmp_path / "mirror.log"):
        admin = AdminClient({"bootstrap.servers": broker_address})
        wait_for(lambda: mirrored in admin.list_topics(timeout=ADMIN_DEADLINE_S).topics, mirrored, MIRROR_DEADLINE_S)
        read = ConfluentClient().consume(broker_address, mirrored, RECORDS)
        assert [entry.record.value for entry in read] == [record.value for record in numbered(RECORDS)]
        partition = TopicPartition(mirrored, 0)
        wait_for(lambda: _committed(broker_address, group, partition) > 0, "the group's offset", MIRROR_DEADLINE_S)
    # An offset is translated to one that is not after it: nothing is skipped.
    assert 0 < _committed(broker_address, group, partition) <= COMMITTED


def _commit(address: str, group: str, position: TopicPartition) -> None:
    consumer = Consumer({"bootstrap.servers": address, "group.id": group, "enable.auto.commit": False})
    try:
        consumer.commit(offsets=[position], asynchronous=False)
    finally:
        consumer.close()


def _committed(address: str, group: str, partition: TopicPartition) -> int:
    consumer = Consumer({"bootstrap.servers": address, "group.id": group})
    try:
        (found,) = consumer.committed([partition], timeout=ADMIN_DEADLINE_S)
        return int(found.offset)
    finally:
        consumer.close()
