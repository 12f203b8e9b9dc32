"""What a batch must be before it is appended. On a plain topic the 61 bytes of its header and its checksum tell."""

from __future__ import annotations

from dataclasses import dataclass

from crc32c import crc32c

from barnabas.wire.batch import (
    CONTROL,
    CRC_START_BYTES,
    HEADER_BYTES,
    KEEP_GIL,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    NO_TIMESTAMP,
    BatchHeader,
    Record,
    build_batch,
    iterate_records,
    parse_header,
    stamp_log_append_time,
)
from barnabas.wire.compression import Compression
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.wire_error import WireError

ZSTD_VERSION = 7
REJECTED_RECORDS_TOLD_MAX = 1000
"""Beyond this many, one more rejected record tells the producer nothing new."""


@dataclass(frozen=True, slots=True)
class TopicRules:
    """The configuration of a topic as far as it decides what a producer may send."""

    max_message_bytes: int
    log_append_time: bool
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    compression: Compression | None
    """The codec to store in; None keeps the producer's."""

    compression_level: int | None
    compacted: bool
    strict: bool

    def wants_records(self, header: BatchHeader) -> bool:
        """Whether the batch has to be opened: a matter of milliseconds, and so of a worker thread."""
        return (
            self.compacted or self.strict or (self.compression is not None and self.compression != header.compression)
        )


class RejectedRecords(KafkaError):
    """Single records made the whole batch unacceptable: (position in the batch, why)."""

    def __init__(self, code: ErrorCode, message: str, records: list[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records = records


def check_request(records: memoryview | None, version: int) -> BatchHeader:
    """What Kafka checks before it looks at the topic: one batch, of the current format, in a codec that the version knows."""
    if records is None or len(records) == 0:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"a Produce v{version} request carries one record batch per partition, and this has none",
        )
    if len(records) < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE,
            f"the record batch has {len(records)} bytes, less than its header of {HEADER_BYTES}",
        )
    header = parse_header(records, 0)
    if header.magic != MAGIC:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"the record batch has magic {header.magic}, and only magic {MAGIC} is accepted"
        )
    if header.compression == Compression.ZSTD and version < ZSTD_VERSION:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"zstd needs Produce v{ZSTD_VERSION} or newer, and the client sent v{version}",
        )
    size_bytes = header.batch_length + LENGTH_OVERHEAD_BYTES
    if size_bytes > len(records) or size_bytes < HEADER_BYTES:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"the record batch announces {size_bytes} bytes, and {len(records)} arrived"
        )
    if size_bytes < len(records):
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"a Produce v{version} request carries one record batch per partition, and this has more than one",
        )
    return header


def check_batch(records: memoryview, header: BatchHeader, rules: TopicRules, now_ms: int) -> BatchHeader:
    """What the topic demands of a batch, as far as its header tells; stamps the time where the topic keeps the broker's."""
    if header.base_offset != 0:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"the base offset of a produced batch is 0, not {header.base_offset}"
        )
    if len(records) > rules.max_message_bytes:
        raise KafkaError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the record batch has {len(records)} bytes, and the topic takes max.message.bytes={rules.max_message_bytes}",
        )
    if crc32c(records[CRC_START_BYTES:], gil_release_mode=KEEP_GIL) != header.crc:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, "the record batch does not match its checksum: it was damaged on its way"
        )
    if header.attributes & CONTROL:
        raise KafkaError(ErrorCode.INVALID_RECORD, "only the broker itself writes control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, f"producer {header.producer_id} sent the sequence number {header.base_sequence}"
        )
    if header.record_count <= 0 or header.record_count != header.last_offset_delta + 1:
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"the batch counts {header.record_count} records, and its last offset delta is {header.last_offset_delta}",
        )
    if rules.log_append_time:
        stamp_log_append_time(records, 0, header, now_ms)
        return parse_header(records, 0)
    earliest, latest = now_ms - rules.timestamp_before_max_ms, now_ms + rules.timestamp_after_max_ms
    if not (earliest <= header.base_timestamp <= latest and earliest <= header.max_timestamp <= latest):
        _check_header_timestamps(header, rules, now_ms)
    return header


def open_batch(records: memoryview, header: BatchHeader, rules: TopicRules, now_ms: int) -> memoryview:
    """Looks at every record of a checked batch and returns what to store: the batch itself, or one in the topic's codec."""
    try:
        opened = list(iterate_records(records))
    except WireError as problem:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"the records of the batch cannot be read: {problem}") from None
    rejected: list[tuple[int, str]] = []
    untimely = False
    for position, record in enumerate(opened):
        if record.offset != position:
            rejected.append((position, f"record {position} has the offset delta {record.offset}"))
        elif rules.compacted and record.key is None:
            rejected.append((position, "a compacted topic takes no record without a key"))
        elif not rules.log_append_time and not _is_timely(record.timestamp, rules, now_ms):
            untimely = True
            rejected.append((position, _untimely(record.timestamp, rules, now_ms)))
    if rejected:
        code = ErrorCode.INVALID_TIMESTAMP if untimely else ErrorCode.INVALID_RECORD
        raise RejectedRecords(
            code,
            f"{len(rejected)} of {len(opened)} records were rejected: {rejected[0][1]}",
            rejected[:REJECTED_RECORDS_TOLD_MAX],
        )
    if rules.compression is None or rules.compression == header.compression:
        return records
    return memoryview(_recompressed(opened, header, rules))


def _recompressed(records: list[Record], header: BatchHeader, rules: TopicRules) -> bytearray:
    return build_batch(
        records,
        compression=rules.compression or Compression.NONE,
        level=rules.compression_level,
        log_append_time=header.max_timestamp if header.is_log_append_time else None,
        transactional=header.is_transactional,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )


def _check_header_timestamps(header: BatchHeader, rules: TopicRules, now_ms: int) -> None:
    """The first record's time and the latest: what lies between is only seen when the batch is opened."""
    for timestamp in (header.base_timestamp, header.max_timestamp):
        if not _is_timely(timestamp, rules, now_ms):
            why = _untimely(timestamp, rules, now_ms)
            raise RejectedRecords(ErrorCode.INVALID_TIMESTAMP, why, [(0, why)])


def _is_timely(timestamp: int, rules: TopicRules, now_ms: int) -> bool:
    return timestamp == NO_TIMESTAMP or (
        now_ms - timestamp <= rules.timestamp_before_max_ms and timestamp - now_ms <= rules.timestamp_after_max_ms
    )


def _untimely(timestamp: int, rules: TopicRules, now_ms: int) -> str:
    return (
        f"the timestamp {timestamp} is {timestamp - now_ms} ms from the broker's clock; the topic takes "
        f"message.timestamp.before.max.ms={rules.timestamp_before_max_ms} and "
        f"message.timestamp.after.max.ms={rules.timestamp_after_max_ms}"
    )
