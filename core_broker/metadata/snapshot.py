"""Snapshots of the metadata: the whole image as records, in a file of Kafka's own format.

A snapshot replaces everything in the metadata log below its end offset. The file holds a header batch, the records, a footer batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.wire.batch import Record, build_batch, compute_crc, iterate_batches, iterate_records
from barnabas.wire.codec import encode
from barnabas.wire.records.cluster_metadata import (
    METADATA_RECORDS,
    BrokerEndpoint,
    ClientQuotaRecord,
    ConfigRecord,
    EntityData,
    FeatureLevelRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from barnabas.wire.records.control import ControlRecordKey, ControlType, SnapshotFooterRecord, SnapshotHeaderRecord
from barnabas.wire.records.framing import decode_metadata_record, encode_metadata_record, encode_versioned, read_prefix
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError
from core_broker.metadata.image import BrokerImage, ClusterImage, TopicImage
from core_broker.metadata.replay import MetadataError

RECORDS_PER_BATCH: Final = 2_000

_NAME = re.compile(r"(?P<end>[0-9]{20})-(?P<epoch>[0-9]{10})\.checkpoint")
_KEY_TYPE_POSITION: Final = 2


class SnapshotId(NamedTuple):
    """The first offset that a snapshot does not contain, and the epoch of the last record that it does."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020}-{self.epoch:010}.checkpoint"

    @classmethod
    def parse(cls, file_name: str) -> SnapshotId | None:
        match = _NAME.fullmatch(file_name)
        return None if match is None else cls(int(match["end"]), int(match["epoch"]))


def frame(record: Message) -> bytes:
    """A record as it stands in the value of the log's record: in its newest version."""
    return encode_metadata_record(record, type(record).VERSIONS.high)


def unframe(batch: bytes | memoryview, position: int = 0) -> Iterator[Message]:
    """The metadata records of a data batch."""
    for record in iterate_records(batch, position):
        yield decode_metadata_record(record.value or b"", METADATA_RECORDS)


def control_batch(kind: ControlType, message: Message, *, offset: int, epoch: int, now_ms: int) -> bytearray:
    key = encode_versioned(ControlRecordKey(type=kind), 0)
    return build_batch([Record(offset, now_ms, key, encode(message, 0))], leader_epoch=epoch, control=True)


def encode_snapshot(image: ClusterImage, *, log_time_ms: int, now_ms: int) -> bytes:
    """The content of the file. `log_time_ms` is the time of the last record in the log that it contains."""
    header = SnapshotHeaderRecord(last_contained_log_timestamp=log_time_ms)
    out = control_batch(ControlType.SNAPSHOT_HEADER, header, offset=0, epoch=image.epoch, now_ms=now_ms)
    records = list(image_records(image))
    offset = 1
    for start in range(0, len(records), RECORDS_PER_BATCH):
        part = records[start : start + RECORDS_PER_BATCH]
        out += build_batch(
            [Record(offset + index, now_ms, None, frame(record)) for index, record in enumerate(part)],
            leader_epoch=image.epoch,
        )
        offset += len(part)
    footer = SnapshotFooterRecord()
    out += control_batch(ControlType.SNAPSHOT_FOOTER, footer, offset=offset, epoch=image.epoch, now_ms=now_ms)
    return bytes(out)


def decode_snapshot(data: bytes) -> list[Message]:
    """The records of a snapshot; MetadataError if it is damaged or was not written to the end."""
    records: list[Message] = []
    kinds: list[int] = []
    end = 0
    try:
        for position, header in iterate_batches(data):
            if compute_crc(data, position, header.size_bytes) != header.crc:
                raise MetadataError(f"the snapshot's batch at byte {position} has a wrong checksum")
            if header.is_control:
                keys = (record.key or b"" for record in iterate_records(data, position))
                kinds.extend(read_prefix(key[_KEY_TYPE_POSITION:]) for key in keys)
            else:
                records.extend(unframe(data, position))
            end = position + header.size_bytes
    except WireError as error:
        raise MetadataError(f"the snapshot cannot be read: {error}") from None
    # Between header and footer Kafka notes who votes, which a single node need not know.
    whole = kinds[:1] == [ControlType.SNAPSHOT_HEADER] and kinds[1:][-1:] == [ControlType.SNAPSHOT_FOOTER]
    if end != len(data) or not whole:
        raise MetadataError(
            f"the snapshot is cut off: {end} of {len(data)} bytes are whole batches, and its footer is missing"
        )
    return records


def image_records(image: ClusterImage) -> Iterator[Message]:
    """Records that make this image out of nothing."""
    for name, level in image.features.items():
        yield FeatureLevelRecord(name=name, feature_level=level)
    for broker in image.brokers.values():
        yield _registration(broker)
    for topic in image.topics.values():
        yield TopicRecord(name=topic.name, topic_id=topic.topic_id)
        yield from _partitions(topic)
    for resource, configs in image.configs.items():
        for name, value in configs.items():
            yield ConfigRecord(resource_type=resource.type, resource_name=resource.name, name=name, value=value)
    for key, credential in image.scram_credentials.items():
        yield UserScramCredentialRecord(
            name=key.user,
            mechanism=key.mechanism,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )
    for entity, quotas in image.client_quotas.items():
        for name, limit in quotas.items():
            parts = [EntityData(entity_type=part.type, entity_name=part.name) for part in entity]
            yield ClientQuotaRecord(entity=parts, key=name, value=limit)
    if image.next_producer_id:
        yield ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id)


def _registration(broker: BrokerImage) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.broker_id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[BrokerEndpoint(**point._asdict()) for point in broker.endpoints],
        rack=broker.rack,
        fenced=False,
        log_dirs=list(broker.directories),
    )


def _partitions(topic: TopicImage) -> Iterator[PartitionRecord]:
    for index, partition in enumerate(topic.partitions):
        yield PartitionRecord(
            partition_id=index,
            topic_id=topic.topic_id,
            replicas=list(partition.replicas),
            isr=list(partition.isr),
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            directories=list(partition.directories),
        )


def newest(names: Sequence[str]) -> list[SnapshotId]:
    """The snapshots among these files, the newest first."""
    return sorted(filter(None, map(SnapshotId.parse, names)), reverse=True)
