"""Snapshots hold whole images, and a damaged one is noticed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from barnabas.wire.batch import iterate_batches
from core_broker.metadata.image import (
    EMPTY,
    BrokerImage,
    ClusterImage,
    ConfigResource,
    Endpoint,
    PartitionImage,
    ResourceType,
    ScramCredential,
    ScramKey,
    TopicImage,
    frozen,
)
from core_broker.metadata.replay import MetadataError, replay
from core_broker.metadata.snapshot import (
    RECORDS_PER_BATCH,
    SnapshotId,
    decode_snapshot,
    encode_snapshot,
    image_records,
    newest,
)

ID, DIRECTORY = b"t" * 16, b"d" * 16
PARTITION = PartitionImage((1,), (1,), (DIRECTORY,), leader=1, leader_epoch=4, partition_epoch=5)
IMAGE = ClusterImage(
    offset=41,
    epoch=3,
    topics=frozen({"t": TopicImage("t", ID, (PARTITION, PARTITION))}),
    topic_names=frozen({ID: "t"}),
    configs=frozen(
        {
            ConfigResource(ResourceType.TOPIC, "t"): frozen({"retention.ms": "5"}),
            ConfigResource(ResourceType.BROKER, ""): frozen({"log.retention.ms": "6"}),
        }
    ),
    brokers=frozen({1: BrokerImage(1, b"i" * 16, 7, (Endpoint("PLAINTEXT", "h", 9092, 0),), "r", (DIRECTORY,))}),
    features=frozen({"metadata.version": 30}),
    scram_credentials=frozen({ScramKey("u", 1): ScramCredential(b"s", b"k", b"v", 4096)}),
    next_producer_id=2000,
)


def encoded(image: ClusterImage = IMAGE) -> bytes:
    return encode_snapshot(image, log_time_ms=1, now_ms=2)


def test_the_records_of_an_image_make_that_image() -> None:
    assert replay(EMPTY, image_records(IMAGE), offset=IMAGE.offset, epoch=IMAGE.epoch) == IMAGE


def test_an_image_comes_back_from_a_snapshot() -> None:
    assert replay(EMPTY, decode_snapshot(encoded()), offset=41, epoch=3) == IMAGE


def test_a_large_image_is_cut_into_batches_that_follow_each_other() -> None:
    partitions = (PARTITION,) * (2 * RECORDS_PER_BATCH)
    data = encoded(ClusterImage(topics=frozen({"t": TopicImage("t", ID, partitions)}), topic_names=frozen({ID: "t"})))
    headers = [header for _, header in iterate_batches(data)]
    assert [header.record_count for header in headers] == [1, RECORDS_PER_BATCH, RECORDS_PER_BATCH, 1, 1]
    assert all(after.base_offset == before.last_offset + 1 for before, after in pairwise(headers))
    assert len(decode_snapshot(data)) == 2 * RECORDS_PER_BATCH + 1


@pytest.mark.parametrize("kept", [0, 1, 60, 82, 200, -1])
def test_a_snapshot_that_was_cut_off_is_noticed(kept: int) -> None:
    with pytest.raises(MetadataError, match="cut off"):
        decode_snapshot(encoded()[:kept])


def test_a_damaged_snapshot_is_noticed() -> None:
    data = bytearray(encoded())
    data[200] ^= 1
    with pytest.raises(MetadataError, match="wrong checksum"):
        decode_snapshot(bytes(data))


def test_a_snapshot_is_named_as_kafka_names_it() -> None:
    name = "00000000000000000042-0000000003.checkpoint"
    assert SnapshotId(42, 3).file_name == name
    assert SnapshotId.parse(name) == SnapshotId(42, 3)
    assert SnapshotId.parse(f"{name}.tmp") is None
    names = ["00000000000000000007.log", name, SnapshotId(9, 1).file_name, "leader-epoch-checkpoint"]
    assert newest(names) == [SnapshotId(42, 3), SnapshotId(9, 1)]
