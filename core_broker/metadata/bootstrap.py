"""What a directory was formatted with: the records with which a new cluster begins, in Kafka's `bootstrap.checkpoint`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.wire.batch import Record, build_batch
from barnabas.wire.codec import encode
from barnabas.wire.records.control import (
    ControlRecordKey,
    ControlType,
    KRaftVersionRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from barnabas.wire.records.framing import encode_versioned
from barnabas.wire.struct import Message
from core_broker.log.disk import Disk
from core_broker.metadata.snapshot import control_batch, decode_snapshot, frame

FILE_NAME: Final = "bootstrap.checkpoint"
DYNAMIC_QUORUM: Final = 1


def read(log_directory: Path, disk: Disk) -> list[Message]:
    """The records of the file, or none; MetadataError if it is damaged."""
    path = log_directory / FILE_NAME
    return decode_snapshot(disk.read_file(path)) if disk.exists(path) else []


def encode_records(records: Sequence[Message], now_ms: int) -> bytes:
    """The content of the file."""
    out = control_batch(ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord(), offset=0, epoch=0, now_ms=now_ms)
    numbered = [Record(1 + index, now_ms, None, frame(record)) for index, record in enumerate(records)]
    out += build_batch(numbered, leader_epoch=0)
    footer = SnapshotFooterRecord()
    out += control_batch(ControlType.SNAPSHOT_FOOTER, footer, offset=1 + len(records), epoch=0, now_ms=now_ms)
    return bytes(out)


def encode_voters(voters: VotersRecord, now_ms: int) -> bytes:
    """The snapshot at offset 0 of a quorum whose voters are kept in its log; brokers of one node need none."""
    leading: list[tuple[ControlType, Message]] = [
        (ControlType.SNAPSHOT_HEADER, SnapshotHeaderRecord(last_contained_log_timestamp=now_ms)),
        (ControlType.KRAFT_VERSION, KRaftVersionRecord(kraft_version=DYNAMIC_QUORUM)),
        (ControlType.KRAFT_VOTERS, voters),
    ]
    numbered = [
        Record(offset, now_ms, encode_versioned(ControlRecordKey(type=kind), 0), encode(message, 0))
        for offset, (kind, message) in enumerate(leading)
    ]
    out = build_batch(numbered, leader_epoch=0, control=True)
    footer = SnapshotFooterRecord()
    out += control_batch(ControlType.SNAPSHOT_FOOTER, footer, offset=len(leading), epoch=0, now_ms=now_ms)
    return bytes(out)
