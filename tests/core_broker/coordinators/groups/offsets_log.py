"""What a broker has written about a group, read from its own files."""

from __future__ import annotations

from pathlib import Path

from barnabas.wire.batch import iterate_batches, iterate_records
from barnabas.wire.records.framing import decode_key, decode_versioned, read_prefix
from barnabas.wire.records.group_offsets import KEYS, VALUES
from barnabas.wire.struct import Struct
from tests.core_broker.coordinators.groups.dialogue import Side

# What is a time, a hash of our own, an address, or a number of the cluster's metadata.
DIFFERENT = ("metadata_hash", "assignment_timestamp", "current_state_timestamp", "timestamp", "version", "client_host")


def records_of(log_dir: Path, group: str, side: Side, member_id: str) -> list[object]:
    """Keys and values in their order. One member's id was made by the broker and goes by the name of `member`."""
    found: list[object] = []
    for file in sorted(log_dir.glob("__consumer_offsets-*/*.log")):
        data = file.read_bytes()
        for position, header in iterate_batches(data):
            if header.is_control:
                continue
            for record in iterate_records(data, position):
                assert record.key is not None
                key = decode_key(record.key, KEYS)
                if group not in (getattr(key, "group_id", None), getattr(key, "group", None)):
                    continue
                value = None if record.value is None else decode_versioned(VALUES[key.API_KEY], record.value)
                version = None if record.value is None else read_prefix(record.value)
                found.append((key.API_KEY, _plain(key, side, member_id), version, _plain(value, side, member_id)))
    return found


def _plain(value: object, side: Side, member_id: str) -> object:
    if isinstance(value, Struct):
        return {
            field.name: _plain(getattr(value, field.name), side, member_id)
            for field in value.FIELDS
            if field.name not in DIFFERENT
        }
    if isinstance(value, list):
        return sorted((_plain(item, side, member_id) for item in value), key=repr)
    if isinstance(value, bytes):
        return side.names.get(value, value)
    return "member" if value == member_id else value
