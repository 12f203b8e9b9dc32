"""The entries of a segment's index files, checked against its log, as kafka-dump-log prints them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, NamedTuple, TextIO

from barnabas.kafka_tools.dump.dumped_log import base_offset_of, batches, open_file
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kernel.java.text import absolute_path, computed_map_order
from barnabas.wire.batch import BatchHeader, iterate_records, parse_header
from barnabas.wire.wire_error import WireError

NOT_FOUND: Final = -1
NO_TIMESTAMP: Final = -1
READ_BYTES: Final = 96 * 1024  # entries of every kind fit into it without a rest

_offset_entry = struct.Struct(">ii")
_time_entry = struct.Struct(">qi")
_transaction_entry = struct.Struct(">hqqqq")
_snapshot_head = struct.Struct(">hI")
_snapshot_count = struct.Struct(">i")
_snapshot_entry = struct.Struct(">qhiqiqiq")
_SNAPSHOT_VERSION: Final = 1
_TRANSACTION_VERSION: Final = 0
_SEQUENCES: Final = 1 << 31


class Disagreement(NamedTuple):
    """What an index says, and what was found."""

    indexed: int
    found: int


@dataclass(frozen=True, slots=True)
class IndexDump:
    """How to dump indexes, and what did not agree with the logs, by file."""

    out: TextIO
    sanity_only: bool
    verify_only: bool
    max_message_bytes: int
    offsets: dict[str, dict[int, int]] = field(default_factory=dict)
    timestamps: dict[str, list[Disagreement]] = field(default_factory=dict)
    order: dict[str, list[Disagreement]] = field(default_factory=dict)
    missing: dict[str, list[Disagreement]] = field(default_factory=dict)

    def dump_offsets(self, path: str) -> None:
        base = base_offset_of(path)
        with open_file(_sibling(path, ".log")) as log, open_file(path) as index:
            size = os.fstat(index.fileno()).st_size
            if size < _offset_entry.size:
                self.out.write(f"{path} is empty.\n")
            elif self.sanity_only:
                _check_offset_index(path, index, base)
                self.out.write(f"{path} passed sanity check.\n")
            else:
                self._list_offsets(path, index, log, base)

    def dump_times(self, path: str) -> None:
        base = base_offset_of(path)
        with open_file(_sibling(path, ".log")) as log, open_file(path) as index:
            if self.sanity_only:
                _check_time_index(path, index, base)
                self.out.write(f"{path} passed sanity check.\n")
                return
            positions = _OffsetLookup(_sibling(path, ".index"), base)
            self._list_times(path, index, log, base, positions)

    def report(self, errors: TextIO) -> None:
        """What did not agree, in the order in which Java's maps hold it."""
        for name in computed_map_order(self.offsets):
            errors.write(f"Mismatches in :{name}\n")
            for indexed, found in sorted(self.offsets[name].items()):
                errors.write(f"  Index offset: {indexed}, log offset: {found}\n")
        for title, wanted, found_text, notes in (
            ("Found timestamp mismatch in :", "  Index timestamp: ", ", log timestamp: ", self.timestamps),
            (
                "Found out of order timestamp in :",
                "  Index timestamp: ",
                ", Previously indexed timestamp: ",
                self.order,
            ),
            (
                "The following indexed offsets are not found in :",
                "Indexed offset: ",
                ", found log offset: ",
                self.missing,
            ),
        ):
            for name in computed_map_order(notes):
                errors.write(f"{title}{name}\n")
                for note in notes[name]:
                    errors.write(f"{wanted}{note.indexed}{found_text}{note.found}\n")

    def _list_offsets(self, path: str, index: BinaryIO, log: BinaryIO, base: int) -> None:
        log_bytes = os.fstat(log.fileno()).st_size
        for number, (relative, position) in enumerate(_entries(index, _offset_entry)):
            offset = base + relative
            # The file of a running broker, or of one that crashed, ends in zeros.
            if offset == base and number > 0:
                return
            found = self._batch_at(log, path, position, min(log_bytes, position + self.max_message_bytes))
            if found.last_offset != offset:
                self.offsets.setdefault(absolute_path(path), {})[offset] = found.last_offset
            if not self.verify_only:
                self.out.write(f"offset: {offset} position: {position}\n")

    def _batch_at(self, log: BinaryIO, path: str, position: int, end: int) -> BatchHeader:
        if position >= 0:
            for _, batch in batches(log, _sibling(path, ".log"), position, end):
                return parse_header(batch)
        raise ToolError(
            f"{path} points to position {position} of the log, where no whole batch stands. The log is cut off, the index is "
            "damaged, or a batch is larger than --max-message-size. A broker rebuilds an index that is deleted."
        )

    def _list_times(self, path: str, index: BinaryIO, log: BinaryIO, base: int, positions: _OffsetLookup) -> None:
        name = absolute_path(path)
        log_path = _sibling(path, ".log")
        log_bytes = os.fstat(log.fileno()).st_size
        previous = NO_TIMESTAMP
        for number, (timestamp, relative) in enumerate(_entries(index, _time_entry)):
            offset = base + relative
            if offset == base and number > 0:
                return
            found = _first_batch_reaching(log, log_path, positions.position(offset), log_bytes, offset)
            if found is None:
                self.missing.setdefault(name, []).append(Disagreement(offset, NOT_FOUND))
            elif parse_header(found).last_offset != offset:
                self.missing.setdefault(name, []).append(Disagreement(offset, parse_header(found).last_offset))
            else:
                largest = _largest_timestamp(found, log_path)
                if largest != timestamp:
                    self.timestamps.setdefault(name, []).append(Disagreement(timestamp, largest))
                if previous >= timestamp:
                    self.order.setdefault(name, []).append(Disagreement(timestamp, previous))
            if not self.verify_only:
                self.out.write(f"timestamp: {timestamp} offset: {offset}\n")
            previous = timestamp


def dump_transactions(path: str, out: TextIO) -> None:
    base_offset_of(path)
    with open_file(path) as file:
        for version, *fields in _entries(file, _transaction_entry):
            if version > _TRANSACTION_VERSION:
                raise ToolError(
                    f"Unexpected aborted transaction version {version}, current version is {_TRANSACTION_VERSION}"
                )
            producer_id, first, last, stable = fields
            out.write(
                f"version: {version} producerId: {producer_id} firstOffset: {first} lastOffset: {last} "
                f"lastStableOffset: {stable}\n"
            )


def dump_producers(path: str, out: TextIO, errors: TextIO) -> None:
    """A `.snapshot` of producer states; damage is told on standard error and is no failure."""
    from crc32c import crc32c

    with open_file(path) as file:
        data = file.read()
    if len(data) < _snapshot_head.size + _snapshot_count.size:
        errors.write(f"Snapshot failed schema validation: the file has {len(data)} bytes, which is too few\n")
        return
    version, stored = _snapshot_head.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        errors.write(f"Snapshot failed schema validation: Snapshot contained an unknown file version {version}\n")
        return
    (count,) = _snapshot_count.unpack_from(data, _snapshot_head.size)
    entries = data[_snapshot_head.size + _snapshot_count.size :]
    if count < 0 or len(entries) < count * _snapshot_entry.size:
        errors.write(f"Snapshot failed schema validation: {count} entries do not fit {len(entries)} bytes\n")
        return
    computed = crc32c(data[_snapshot_head.size :])
    if computed != stored:
        errors.write(f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {stored}. Computed crc: {computed}\n")
        return
    for fields in _snapshot_entry.iter_unpack(entries[: count * _snapshot_entry.size]):
        out.write(_producer_line(*fields) + "\n")


def _producer_line(
    producer_id: int,
    epoch: int,
    sequence: int,
    last_offset: int,
    delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_offset: int,
) -> str:
    transaction = f"OptionalLong[{transaction_offset}]" if transaction_offset >= 0 else "OptionalLong.empty"
    line = (
        f"producerId: {producer_id} producerEpoch: {epoch} coordinatorEpoch: {coordinator_epoch} "
        f"currentTxnFirstOffset: {transaction} lastTimestamp: {timestamp}"
    )
    if last_offset < 0:
        return line
    first = sequence - delta if sequence >= delta else sequence - delta + _SEQUENCES
    return (
        f"{line} firstSequence: {first} lastSequence: {sequence} lastOffset: {last_offset} offsetDelta: {delta} "
        f"timestamp: {timestamp}"
    )


class _OffsetLookup:
    """Finds where in the log to begin to look for an offset; from the start where the index is missing or says nothing."""

    def __init__(self, path: str, base: int) -> None:
        self._base = base
        self._entries: list[tuple[int, ...]] = []
        if os.path.exists(path):
            with open_file(path) as file:
                for number, entry in enumerate(_entries(file, _offset_entry)):
                    if number and entry[0] == 0:
                        break
                    self._entries.append(entry)

    def position(self, offset: int) -> int:
        from bisect import bisect_right

        found = bisect_right(self._entries, offset - self._base, key=lambda entry: entry[0])
        return max(0, self._entries[found - 1][1]) if found else 0


def _first_batch_reaching(log: BinaryIO, path: str, position: int, end: int, offset: int) -> bytes | None:
    for _, batch in batches(log, path, position, end):
        if parse_header(batch).last_offset >= offset:
            return batch
    return None


def _largest_timestamp(batch: bytes, path: str) -> int:
    try:
        return max((record.timestamp for record in iterate_records(batch)), default=NO_TIMESTAMP)
    except WireError as error:
        raise ToolError(f"{path}: a batch that the time index points to cannot be read: {error}") from None


def _entries(file: BinaryIO, entry: struct.Struct) -> Iterator[tuple[int, ...]]:
    """Every whole entry of the file, from its start."""
    file.seek(0)
    chunk_bytes = READ_BYTES // entry.size * entry.size
    while chunk := file.read(chunk_bytes):
        yield from entry.iter_unpack(chunk[: len(chunk) // entry.size * entry.size])


def _check_offset_index(path: str, index: BinaryIO, base: int) -> None:
    size = os.fstat(index.fileno()).st_size
    relative, _ = _last_entry(index, _offset_entry, size)
    if base + relative < base:
        raise ToolError(
            f"Corrupt index found, index file {absolute_path(path)} has non-zero size but the last offset is "
            f"{base + relative} which is less than the base offset {base}"
        )
    if size % _offset_entry.size:
        raise ToolError(
            f"Index file {absolute_path(path)} is corrupt, found {size} bytes which is neither positive nor a multiple of "
            f"{_offset_entry.size}"
        )


def _check_time_index(path: str, index: BinaryIO, base: int) -> None:
    size = os.fstat(index.fileno()).st_size
    name = absolute_path(path)
    if size >= _time_entry.size:
        first_timestamp, _ = next(iter(_entries(index, _time_entry)))
        last_timestamp, relative = _last_entry(index, _time_entry, size)
        if last_timestamp < first_timestamp:
            raise ToolError(
                f"Corrupt time index found, time index file ({name}) has non-zero size but the last timestamp is "
                f"{last_timestamp} which is less than the first timestamp {first_timestamp}"
            )
        if relative < 0:
            raise ToolError(
                f"Corrupt time index found, time index file ({name}) has non-zero size but the last offset is "
                f"{base + relative} which is less than the first offset {base}"
            )
    if size % _time_entry.size:
        raise ToolError(
            f"Time index file {name} is corrupt, found {size} bytes which is neither positive nor a multiple of "
            f"{_time_entry.size}"
        )


def _last_entry(file: BinaryIO, entry: struct.Struct, size: int) -> tuple[int, ...]:
    file.seek((size // entry.size - 1) * entry.size)
    return entry.unpack(file.read(entry.size))


def _sibling(path: str, suffix: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, name.split(".")[0] + suffix)
