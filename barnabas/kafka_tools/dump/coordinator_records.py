"""What the records of the coordinators' topics and of the metadata log say, as the JSON that Kafka's tools print."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Final, NamedTuple

from barnabas.kafka_tools.dump.message_json import Node, message_node
from barnabas.wire.codec import decode
from barnabas.wire.fields import Blob
from barnabas.wire.records.framing import METADATA_FRAME_VERSION, decode_versioned, read_prefix
from barnabas.wire.struct import Message
from barnabas.wire.varint import read_uvarint
from barnabas.wire.wire_error import WireError

CONSUMER_PROTOCOL: Final = "consumer"
GROUP_METADATA_TYPE: Final = 2
_PREFIX_BYTES: Final = 2
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class UnknownRecordTypeError(Exception):
    """A record of a type that this topic does not hold, as a newer version may have written it."""

    def __init__(self, record_type: int) -> None:
        super().__init__(f"record type {record_type} is not known here")
        self.record_type = record_type


class Vocabulary(NamedTuple):
    """The record types of one coordinator's topic."""

    keys: Mapping[int, type[Message]]
    values: Mapping[int, type[Message]]


class CoordinatorRecord(NamedTuple):
    """A decoded record; no value stands for a tombstone."""

    record_type: int
    key: Node
    version: int
    value: Node | None


def group_vocabulary() -> Vocabulary:
    from barnabas.wire.records import group_offsets, share_groups, streams_groups

    modules = (group_offsets, share_groups, streams_groups)
    keys = {number: key for module in modules for number, key in module.KEYS.items()}
    return Vocabulary(keys, {number: value for module in modules for number, value in module.VALUES.items()})


def transaction_vocabulary() -> Vocabulary:
    from barnabas.wire.records import transaction_state

    return Vocabulary(transaction_state.KEYS, transaction_state.VALUES)


def share_state_vocabulary() -> Vocabulary:
    from barnabas.wire.records import share_state

    return Vocabulary(share_state.KEYS, share_state.VALUES)


def decode_record(vocabulary: Vocabulary, key: Blob, value: Blob | None) -> CoordinatorRecord:
    """The record as JSON objects. UnknownRecordTypeError, or WireError in Kafka's words where the bytes are damaged."""
    record_type = _prefix(key, "key")
    if record_type not in vocabulary.keys:
        raise UnknownRecordTypeError(record_type)
    key_message = _decoded(vocabulary.keys[record_type], 0, key, "key")
    if value is None:
        return CoordinatorRecord(record_type, message_node(key_message, 0), 0, None)
    version = _prefix(value, "value")
    value_message = _decoded(vocabulary.values[record_type], version, value, "value")
    return CoordinatorRecord(record_type, message_node(key_message, 0), version, message_node(value_message, version))


def open_members(group: Node) -> None:
    """Show what the members of a consumers' group sent each other, in place of the bytes; bytes that say nothing stay."""
    from barnabas.wire.records.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription

    if group.get("protocolType") != CONSUMER_PROTOCOL:
        return
    for member in group["members"]:
        _open_field(member, "subscription", ConsumerProtocolSubscription)
        _open_field(member, "assignment", ConsumerProtocolAssignment)


def _open_field(member: Node, name: str, declaration: type[Message]) -> None:
    data = b64decode(member[name])
    try:
        member[name] = message_node(decode_versioned(declaration, data), read_prefix(data))
    except WireError:
        return


def metadata_record(value: Blob) -> Node:
    """A record of the metadata log. WireError in Kafka's words where it cannot be read."""
    from barnabas.wire.records.cluster_metadata import METADATA_RECORDS

    position = 0
    numbers = []
    for what in ("frame version", "type", "version"):
        try:
            number, position = read_uvarint(value, position)
        except IndexError:
            raise WireError(f"Error while reading {what}") from None
        numbers.append(number)
        if what == "frame version" and number != METADATA_FRAME_VERSION:
            raise WireError(
                f"Could not deserialize metadata record due to unknown frame version {number}"
                f"(only frame version {METADATA_FRAME_VERSION} is supported)"
            )
    _, record_type, version = numbers
    declaration = METADATA_RECORDS.get(record_type)
    if declaration is None:
        raise WireError(f"Unknown metadata id {record_type}")
    try:
        message, end = decode(declaration, version, value, position)
    except WireError:
        raise WireError(f"Failed to deserialize record with type {_type_name(declaration)}") from None
    if end != len(value):
        raise WireError(f"Found {len(value) - end} byte(s) of garbage after {_type_name(declaration)}")
    return Node(type=_type_name(declaration), version=version, data=message_node(message, version))


def _type_name(declaration: type[Message]) -> str:
    return _WORD.sub("_", declaration.__name__).upper()


def _prefix(data: Blob, part: str) -> int:
    try:
        return read_prefix(data)
    except WireError:
        raise WireError(f"Could not read version from {part}'s buffer.") from None


def _decoded(declaration: type[Message], version: int, data: Blob, part: str) -> Message:
    try:
        return decode(declaration, version, data, _PREFIX_BYTES)[0]
    except WireError as error:
        raise WireError(f"Could not read record with version {version} from {part}'s buffer due to: {error}.") from None
