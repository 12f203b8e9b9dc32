"""What compaction leaves of a batch: all of it, some records, an empty header, or nothing."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from crc32c import crc32c

from barnabas.wire.batch import (
    COMPRESSION_MASK,
    CONTROL,
    CRC_START_BYTES,
    DELETE_HORIZON,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME,
    MAGIC,
    NO_TIMESTAMP,
    TRANSACTIONAL,
    BatchHeader,
)
from barnabas.wire.compression import compress
from barnabas.wire.varint import read_varlong, varlong
from barnabas.wire.wire_error import WireError
from core_broker.log.cleaned_transactions import CleanedTransactions
from core_broker.log.key_offsets import KeyOffsets
from core_broker.log.key_scan import RECORDS_PER_BREATH
from core_broker.log.pace import Pace
from core_broker.log.record_spans import RecordSpan, inflate, walk_records

_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_CRC: Final = struct.Struct(">I")
_CRC_POSITION: Final = 17
_KEPT_ATTRIBUTES: Final = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
_RECORD_ATTRIBUTES: Final = b"\0"

LeftOver: TypeAlias = bytes | bytearray | memoryview


class LastOfProducer(NamedTuple):
    """Where an active producer's state comes from: its last batch of records, else the marker that began its epoch."""

    offset: int | None
    epoch: int


@dataclass(frozen=True, slots=True)
class FilterRules:
    """What is the same for all batches of a round."""

    now_ms: int
    delete_retention_ms: int
    round_end: int  # the first offset that the round does not reach
    producers: Mapping[int, LastOfProducer]


@dataclass(slots=True)
class FilterCounts:
    records_read: int = 0
    records_kept: int = 0
    records_without_key: int = 0


class _Kept(NamedTuple):
    spans: list[RecordSpan]
    has_tombstones: bool


class BatchFilter:
    """Goes through the batches of a log in order. The offsets of what stays do not change, nor do the timestamps."""

    def __init__(self, keys: KeyOffsets, transactions: CleanedTransactions, rules: FilterRules, pace: Pace) -> None:
        self._keys = keys
        self._transactions = transactions
        self._rules = rules
        self._pace = pace
        self.counts = FilterCounts()

    def apply(self, header: BatchHeader, batch: memoryview) -> LeftOver | None:
        """The bytes that stay: `batch` itself if all of them do, None if none."""
        if header.is_control:
            is_marker_without_data = self._transactions.meet_control(header, batch)
            discards = is_marker_without_data and self._horizon_has_passed(header)
        else:
            is_marker_without_data = False
            discards = self._transactions.meet_data(header)
        self.counts.records_read += header.record_count
        if not discards and header.record_count:
            left = self._filter_records(header, batch, starts_horizon=is_marker_without_data)
            if left is not None:
                return left
        return _empty(header) if self._keeps_empty(header) else None

    def _horizon_has_passed(self, header: BatchHeader) -> bool:
        return header.has_delete_horizon and header.base_timestamp <= self._rules.now_ms

    def _keeps_empty(self, header: BatchHeader) -> bool:
        """Whether somebody needs to know of the batch even if it has no record any more."""
        if header.last_offset + 1 == self._rules.round_end:
            return True  # the log must not seem to end earlier
        last = self._rules.producers.get(header.producer_id) if header.producer_id >= 0 else None
        if last is None:
            return False
        if last.offset is not None:
            return header.last_offset == last.offset  # it tells the producer's last sequence number
        return header.is_control and header.producer_epoch == last.epoch  # it tells the epoch, which fences older ones

    def _filter_records(self, header: BatchHeader, batch: memoryview, *, starts_horizon: bool) -> LeftOver | None:
        body = inflate(batch, header)
        kept = self._kept(header, body)
        self.counts.records_kept += len(kept.spans)
        if not kept.spans:
            return None
        if header.has_delete_horizon:
            horizon: int | None = header.base_timestamp
        elif starts_horizon or kept.has_tombstones:
            horizon = self._rules.now_ms + self._rules.delete_retention_ms
        else:
            horizon = None
        if len(kept.spans) == header.record_count and (horizon is None or header.has_delete_horizon):
            return batch
        if crc32c(batch[CRC_START_BYTES:]) != header.crc:
            raise WireError(f"the batch at offset {header.base_offset} does not match its checksum: it is damaged")
        return self._rebuilt(header, body, kept.spans, horizon)

    def _kept(self, header: BatchHeader, body: bytes) -> _Kept:
        if header.is_control:
            return _Kept(list(walk_records(body, header.record_count)), has_tombstones=False)
        latest, last_offset, base = self._keys.latest, self._keys.last_offset, header.base_offset
        keeps_tombstones = not self._horizon_has_passed(header)
        spans: list[RecordSpan] = []
        has_tombstones = False
        for number, span in enumerate(walk_records(body, header.record_count)):
            if number % RECORDS_PER_BREATH == 0:
                self._pace.breathe()
            offset = base + span.offset_delta
            if offset <= latest:
                if span.key is None:
                    self.counts.records_without_key += 1
                    continue
                if offset < last_offset(span.key) or not (span.has_value or keeps_tombstones):
                    continue
            spans.append(span)
            has_tombstones = has_tombstones or not span.has_value
        return _Kept(spans, has_tombstones=has_tombstones)

    def _rebuilt(self, header: BatchHeader, body: bytes, spans: list[RecordSpan], horizon: int | None) -> bytearray:
        first_timestamp = _timestamp(header, body, spans[0])
        base_timestamp = first_timestamp if horizon is None else horizon
        # If the first record stays, and no horizon begins, so do the bytes of all others.
        is_same_base = base_timestamp == header.base_timestamp and not header.is_log_append_time
        parts: list[bytes] = []
        max_timestamp = NO_TIMESTAMP
        for number, span in enumerate(spans):
            if number % RECORDS_PER_BREATH == 0:
                self._pace.breathe()
            timestamp = _timestamp(header, body, span)
            max_timestamp = max(timestamp, max_timestamp)
            if is_same_base:
                parts.append(body[span.start : span.end])
            else:
                head = _RECORD_ATTRIBUTES + varlong(timestamp - base_timestamp)
                parts += (varlong(len(head) + span.end - span.rest), head, body[span.rest : span.end])
        self._pace.breathe()
        attributes = header.attributes & (COMPRESSION_MASK | _KEPT_ATTRIBUTES)
        if horizon is not None:
            attributes |= DELETE_HORIZON
        return _assembled(
            header._replace(
                attributes=attributes,
                base_timestamp=base_timestamp,
                max_timestamp=max_timestamp,
                record_count=len(spans),
            ),
            compress(header.compression, b"".join(parts)),
        )


def _timestamp(header: BatchHeader, body: bytes, span: RecordSpan) -> int:
    if header.is_log_append_time:
        return header.max_timestamp
    return header.base_timestamp + read_varlong(body, span.stamp)[0]


def _empty(header: BatchHeader) -> bytearray:
    """The header alone, without codec and horizon, as Kafka writes it."""
    return _assembled(
        header._replace(attributes=header.attributes & _KEPT_ATTRIBUTES, base_timestamp=NO_TIMESTAMP, record_count=0),
        b"",
    )


def _assembled(header: BatchHeader, records: LeftOver) -> bytearray:
    """A batch of its header and its records, however they are compressed; length and checksum are made to fit."""
    out = bytearray(HEADER_BYTES)
    length = HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(records)
    _HEADER.pack_into(out, 0, *header._replace(batch_length=length, magic=MAGIC, crc=0))
    out += records
    _CRC.pack_into(out, _CRC_POSITION, crc32c(memoryview(out)[CRC_START_BYTES:]))
    return out
