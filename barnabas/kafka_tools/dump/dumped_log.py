"""The batches and records of a `.log` or `.checkpoint` file, one line each, as kafka-dump-log prints them."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, NamedTuple, TextIO

from barnabas.kafka_tools.dump.message_json import message_node, text_of
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kernel.java.text import absolute_path, boolean
from barnabas.wire.batch import HEADER_BYTES, MAGIC, BatchHeader, Record, compute_crc, iterate_records, parse_header
from barnabas.wire.compression import Compression
from barnabas.wire.records.control import (
    ControlType,
    EndTxnMarker,
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from barnabas.wire.records.framing import decode_versioned, read_prefix
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError

LOG_SUFFIX: Final = ".log"
CHECKPOINT_SUFFIX: Final = ".checkpoint"
BOOTSTRAP_CHECKPOINT: Final = "bootstrap.checkpoint"
UNLIMITED_BYTES: Final = (1 << 31) - 1
# Kafka looks for a batch as long as offset, size, leader epoch and magic may follow, and takes no record to be smaller than this.
_PEEK_BYTES: Final = 17
_LENGTH_OVERHEAD_BYTES: Final = 12
_RECORD_MIN_BYTES: Final = 14
_SEQUENCES: Final = 1 << 31
_LONG_LIMIT: Final = 1 << 63

_peek = struct.Struct(">qiib")
_control_key = struct.Struct(">hh")
_CHECKPOINT_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_CONTROL_MESSAGES: Final[dict[int, tuple[str, type[Message]]]] = {
    ControlType.LEADER_CHANGE: ("LeaderChange: ", LeaderChangeMessage),
    ControlType.SNAPSHOT_HEADER: ("SnapshotHeader ", SnapshotHeaderRecord),
    ControlType.SNAPSHOT_FOOTER: ("SnapshotFooter ", SnapshotFooterRecord),
    ControlType.KRAFT_VERSION: ("KRaftVersion ", KRaftVersionRecord),
    ControlType.KRAFT_VOTERS: ("KRaftVoters ", VotersRecord),
}


class Contents(NamedTuple):
    """What a parser makes of a record; None is not printed at all."""

    key: str | None
    payload: str | None


Parser = Callable[[Record], Contents]


@dataclass(frozen=True, slots=True)
class LogDump:
    """How to dump a log, and where offsets that do not follow each other are noted: by file, then by the first of the two."""

    out: TextIO
    deep: bool
    contents: bool
    record_metadata: bool
    parser: Parser
    max_bytes: int = UNLIMITED_BYTES
    gaps: dict[str, dict[int, int]] = field(default_factory=dict)

    def dump(self, path: str) -> None:
        """ToolError where Java's tool would end with an exception."""
        name = os.path.basename(path)
        self.out.write(_heading(name) + "\n")
        last_offset = -1
        end = 0
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            for position, batch in batches(file, path, 0, min(size, self.max_bytes)):
                header = parse_header(batch)
                self.out.write(batch_line(header, position, batch) + "\n")
                if self.deep:
                    last_offset = self._dump_records(path, position, header, batch, last_offset)
                end = position + len(batch)
        if size > end and self.max_bytes == UNLIMITED_BYTES:
            self.out.write(f"Found {size - end} invalid bytes at the end of {name}\n")

    def _dump_records(self, path: str, position: int, header: BatchHeader, batch: bytes, last_offset: int) -> int:
        try:
            for record in iterate_records(batch):
                if record.offset != last_offset + 1:
                    self.gaps.setdefault(absolute_path(path), {})[last_offset] = record.offset
                last_offset = record.offset
                self._dump_record(header, record)
        except WireError as error:
            raise ToolError(
                f"{path}: the batch at position {position} cannot be read: {error}. "
                "Without --print-data-log, --deep-iteration and decoders, the batches behind it can be listed."
            ) from None
        return last_offset

    def _dump_record(self, header: BatchHeader, record: Record) -> None:
        prefix = "| "
        if self.record_metadata:
            self.out.write(record_metadata(header, record))
            prefix = " "
        if self.contents and not header.is_control:
            contents = self.parser(record)
            if contents.key is not None:
                self.out.write(f"{prefix}key: {contents.key}")
                prefix = " "
            if contents.payload is not None:
                self.out.write(f"{prefix}payload: {contents.payload}")
        self.out.write("\n")


def open_file(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise ToolError(
            f"{path}: {error.strerror}. --files takes paths of files of a log, separated by commas."
        ) from None


def base_offset_of(path: str) -> int:
    """The offset that a segment's files are named after."""
    text = os.path.basename(path).split(".")[0]
    if not re.fullmatch(r"[+-]?\d+", text) or not -_LONG_LIMIT <= int(text) < _LONG_LIMIT:
        raise ToolError(f'For input string: "{text}". The files of a segment are named after its first offset.')
    return int(text)


def batches(file: BinaryIO, path: str, position: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Position and bytes of each whole batch from `position` on; what is cut off at `end` ends the walk, as in Kafka."""
    while position < end - _PEEK_BYTES:
        file.seek(position)
        head = file.read(_PEEK_BYTES)
        if len(head) < _PEEK_BYTES:
            return
        _, length, _, magic = _peek.unpack(head)
        if length < _RECORD_MIN_BYTES:
            raise ToolError(
                f"Found record size {length} smaller than minimum record overhead ({_RECORD_MIN_BYTES}) in file {path} at "
                f"position {position}. What follows was never written, or is damaged; --max-bytes {position} ends before it."
            )
        size = length + _LENGTH_OVERHEAD_BYTES
        if position > end - size:
            return
        if magic != MAGIC:
            raise ToolError(
                f"{path}: the batch at position {position} is of format {magic}; this tool reads format {MAGIC}, "
                "which is all that brokers have written since Kafka 0.11."
            )
        if size < HEADER_BYTES:
            raise ToolError(
                f"{path}: the batch at position {position} has {size} bytes, its header takes {HEADER_BYTES}"
            )
        batch = head + file.read(size - _PEEK_BYTES)
        if len(batch) < size:
            return
        yield position, batch
        position += size


def batch_line(header: BatchHeader, position: int, batch: bytes) -> str:
    horizon = f"OptionalLong[{header.base_timestamp}]" if header.has_delete_horizon else "OptionalLong.empty"
    valid = compute_crc(batch, 0, len(batch)) == header.crc
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count} "
        f"baseSequence: {header.base_sequence} lastSequence: {header.last_sequence} producerId: {header.producer_id} "
        f"producerEpoch: {header.producer_epoch} partitionLeaderEpoch: {header.leader_epoch} "
        f"isTransactional: {boolean(header.is_transactional)} isControl: {boolean(header.is_control)} "
        f"deleteHorizonMs: {horizon} position: {position} {timestamp_type(header)}: {header.max_timestamp} "
        f"size: {header.size_bytes} magic: {header.magic} compresscodec: {codec_name(header)} crc: {header.crc} "
        f"isvalid: {boolean(valid)}"
    )


def record_metadata(header: BatchHeader, record: Record) -> str:
    """What stands in front of a record's content, with what a control record says."""
    sequence = header.base_sequence
    if sequence >= 0:
        sequence = (sequence + record.offset - header.base_offset) % _SEQUENCES
    keys = ",".join([name for name, _ in record.headers])
    line = (
        f"| offset: {record.offset} {timestamp_type(header)}: {record.timestamp} keySize: {_size(record.key)} "
        f"valueSize: {_size(record.value)} sequence: {sequence} headerKeys: [{keys}]"
    )
    return line + control_text(record) if header.is_control else line


def control_text(record: Record) -> str:
    if record.key is None or len(record.key) < _control_key.size:
        found = 0 if record.key is None else len(record.key)
        raise WireError(f"the key of a control record takes {_control_key.size} bytes; found {found}")
    _, number = _control_key.unpack_from(record.key)
    value = b"" if record.value is None else record.value
    if number in (ControlType.ABORT, ControlType.COMMIT):
        epoch = decode_versioned(EndTxnMarker, value).coordinator_epoch
        return f" endTxnMarker: {ControlType(number).name} coordinatorEpoch: {epoch}"
    if number in _CONTROL_MESSAGES:
        label, declaration = _CONTROL_MESSAGES[number]
        return f" {label}{_control_json(declaration, value)}"
    return f" controlType: UNKNOWN({number})"


def codec_name(header: BatchHeader) -> str:
    try:
        return Compression(header.compression).name.lower()
    except ValueError:
        raise ToolError(f"Unknown compression type id: {header.compression}") from None


def timestamp_type(header: BatchHeader) -> str:
    return "LogAppendTime" if header.is_log_append_time else "CreateTime"


def _control_json(declaration: type[Message], value: bytes) -> str:
    from barnabas.wire.codec import decode

    # The first field repeats the version that the message is written in.
    version = min(read_prefix(value), declaration.VERSIONS.high)
    return text_of(message_node(decode(declaration, version, value)[0], version))


def _heading(name: str) -> str:
    if name.endswith(LOG_SUFFIX):
        return f"Log starting offset: {base_offset_of(name)}"
    if name == BOOTSTRAP_CHECKPOINT:
        return "KRaft bootstrap snapshot"
    matched = _CHECKPOINT_NAME.fullmatch(name)
    if matched is None:
        raise ToolError(f"{name} is not named like a snapshot of the metadata: <end offset>-<epoch>{CHECKPOINT_SUFFIX}")
    return f"Snapshot end offset: {int(matched[1])}, epoch: {int(matched[2])}"


def _size(blob: bytes | None) -> int:
    return -1 if blob is None else len(blob)
