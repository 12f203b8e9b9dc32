"""Internal records against bytes and field values that Apache Kafka 4.3.0 wrote (`kafka_records.jsonl`), and their framing."""

import base64
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.wire.codec import decode, encode
from barnabas.wire.fields import Field
from barnabas.wire.records import cluster_metadata, group_offsets, share_groups, streams_groups, transaction_state
from barnabas.wire.records.cluster_metadata import METADATA_RECORDS, NoOpRecord, TopicRecord
from barnabas.wire.records.consumer_protocol import ConsumerProtocolSubscription
from barnabas.wire.records.control import ControlRecordKey, ControlType, EndTxnMarker
from barnabas.wire.records.framing import (
    decode_key,
    decode_metadata_record,
    decode_newest,
    decode_versioned,
    encode_key,
    encode_metadata_record,
    encode_versioned,
)
from barnabas.wire.records.group_offsets import OffsetCommitKey, OffsetCommitValue
from barnabas.wire.source import element_field
from barnabas.wire.struct import Message, Struct
from barnabas.wire.wire_error import WireError

SAMPLES = [json.loads(line) for line in (Path(__file__).parent / "kafka_records.jsonl").read_text().splitlines()]
COORDINATORS = (group_offsets, share_groups, streams_groups, transaction_state)


def declaration(sample: dict[str, Any]) -> type[Message]:
    found: type[Message] = getattr(importlib.import_module(f"barnabas.wire.records.{sample['module']}"), sample["name"])
    return found


def as_json(struct: Struct, version: int) -> dict[str, Any]:
    """The struct as Kafka's own JSON converters show it: names without underscores, in lower case."""
    return {
        field.name.replace("_", ""): value_as_json(getattr(struct, field.name), field, version)
        for field in struct.FIELDS
        if field.present_in(version)
    }


def value_as_json(value: Any, field: Field, version: int) -> Any:
    if value is None:
        return None
    if field.kind == "array":
        plain = element_field(field)
        if plain is None:
            return [as_json(element, version) for element in value]
        return [value_as_json(element, plain, version) for element in value]
    if field.kind == "struct":
        return as_json(value, version)
    if field.kind == "uuid":
        return base64.urlsafe_b64encode(value).decode().rstrip("=")
    if field.kind == "bytes":
        return base64.b64encode(value).decode()
    return value


def lowered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name.lower(): lowered(part) for name, part in value.items()}
    return [lowered(part) for part in value] if isinstance(value, list) else value


def assert_contains(ours: Any, kafkas: Any) -> None:
    """Kafka leaves tagged fields out of its JSON when they hold their default, so ours may have more names."""
    if isinstance(kafkas, dict):
        for name, value in kafkas.items():
            assert_contains(ours[name], value)
    elif isinstance(kafkas, list):
        assert len(ours) == len(kafkas)
        for our_element, kafkas_element in zip(ours, kafkas, strict=True):
            assert_contains(our_element, kafkas_element)
    else:
        assert ours == kafkas


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample['name']}-{sample['version']}")
def test_bytes_of_kafka_are_read_and_written_alike(sample: dict[str, Any]) -> None:
    data = bytes.fromhex(sample["bytes"])
    record, end = decode(declaration(sample), sample["version"], data)
    assert end == len(data)
    assert encode(record, sample["version"]) == data
    assert_contains(as_json(record, sample["version"]), lowered(sample["fields"]))


def test_samples_cover_every_version_of_every_record() -> None:
    covered = {(sample["module"], sample["name"], sample["version"]) for sample in SAMPLES}
    for module in (*COORDINATORS, cluster_metadata):
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Message) and value is not Message:
                short = module.__name__.rsplit(".", 1)[1]
                for version in range(value.VERSIONS.low, value.VERSIONS.high + 1):
                    assert (short, value.__name__, version) in covered


def test_keys_and_values_of_coordinators_belong_together() -> None:
    for module in COORDINATORS:
        assert module.KEYS.keys() == module.VALUES.keys()
        for record_type, key in module.KEYS.items():
            assert record_type == key.API_KEY
            assert key.__name__.removesuffix("Key") == module.VALUES[record_type].__name__.removesuffix("Value")


def test_metadata_record_framing() -> None:
    record = TopicRecord(name="orders", topic_id=b"0123456789abcdef")
    value = encode_metadata_record(record, 0)
    assert value == b"\x01\x02\x00" + encode(record, 0)
    assert decode_metadata_record(value, METADATA_RECORDS) == record
    assert encode_metadata_record(NoOpRecord(), 0) == b"\x01\x14\x00\x00"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "ends inside its frame"),
        (b"\x01\x02", "ends inside its frame"),
        (b"\x02\x02\x00", "frame version 2"),
        (b"\x01\x63\x00", "record type 99 is unknown"),
        (b"\x01\x02\x07", "TopicRecord has no version 7"),
        (b"\x01\x14\x00\x00!", "1 bytes follow the NoOpRecord"),
    ],
)
def test_metadata_record_refuses(value: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        decode_metadata_record(value, METADATA_RECORDS)


def test_coordinator_record_framing() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=5)
    assert encode_key(key) == b"\x00\x01" + b"\x00\x01g" + b"\x00\x01t" + b"\x00\x00\x00\x05"
    assert decode_key(encode_key(key), group_offsets.KEYS) == key
    value = OffsetCommitValue(offset=7, leader_epoch=2, metadata="m", commit_timestamp=9)
    assert encode_versioned(value, 3)[:2] == b"\x00\x03"
    assert decode_versioned(OffsetCommitValue, encode_versioned(value, 3)) == value
    with pytest.raises(WireError, match="no room"):
        decode_key(b"\x00", group_offsets.KEYS)
    with pytest.raises(WireError, match="record type 77 is unknown"):
        decode_key(b"\x00\x4d", group_offsets.KEYS)


def test_a_subscription_of_a_newer_version_is_read_as_the_newest_known() -> None:
    subscription = ConsumerProtocolSubscription(topics=["t"], rack_id="r")
    newest = encode_versioned(subscription, 3)
    assert decode_newest(ConsumerProtocolSubscription, b"\x00\x09" + newest[2:] + b"more") == subscription
    with pytest.raises(WireError, match="no version 9"):
        decode_versioned(ConsumerProtocolSubscription, b"\x00\x09" + newest[2:])


def test_end_marker() -> None:
    assert encode_versioned(ControlRecordKey(type=ControlType.COMMIT), 0) == b"\x00\x00\x00\x01"
    assert encode_versioned(EndTxnMarker(coordinator_epoch=3), 0) == b"\x00\x00\x00\x00\x00\x03"
