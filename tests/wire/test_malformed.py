"""Bytes that are no message: a WireError and nothing else, and no memory beyond a small multiple of the input."""

import random
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.wire.apis import API_NAMES, request_class, response_class
from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records
from barnabas.wire.codec import WireError, decode, encode
from barnabas.wire.frames import decode_request_header
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from barnabas.wire.records import cluster_metadata, group_offsets
from barnabas.wire.struct import Message

SEED = 20240601
RANDOM_INPUTS_PER_VERSION = 30
RANDOM_INPUT_MAX_BYTES = 120
MEMORY_FACTOR = 200
MEMORY_FLOOR_BYTES = 300_000

MESSAGES: list[Message] = [
    ProduceRequest(
        transactional_id="tx",
        topic_data=[TopicProduceData(name="topic", partition_data=[PartitionProduceData(records=b"batch")])],
    ),
    FetchRequest(topics=[FetchTopic(topic="topic", partitions=[FetchPartition(), FetchPartition()])], rack_id="rack"),
    MetadataRequest(topics=[MetadataRequestTopic(name="topic"), MetadataRequestTopic(name="ä")]),
    JoinGroupRequest(group_id="g", member_id="m", protocols=[JoinGroupRequestProtocol(name="p", metadata=b"meta")]),
]
SAMPLES = [
    pytest.param(type(message), version, encode(message, version), id=f"{type(message).__name__}-{version}")
    for message in MESSAGES
    for version in range(message.VERSIONS.low, message.VERSIONS.high + 1)
    if not (isinstance(message, ProduceRequest | FetchRequest) and version > 12)  # topic ids instead of names
]


def decode_or_refuse(cls: type[Message], version: int, data: bytes) -> bool:
    """Whether the bytes were a message; anything but a WireError fails the test."""
    try:
        _, end = decode(cls, version, data)
    except WireError as error:
        refusal = str(error)
    else:
        assert end <= len(data)
        return True
    assert refusal.startswith(f"{cls.__name__} v{version}")
    return False


@pytest.mark.parametrize(("cls", "version", "data"), SAMPLES)
def test_every_truncation_is_refused(cls: type[Message], version: int, data: bytes) -> None:
    assert decode_or_refuse(cls, version, data)
    for end in range(len(data)):
        assert not decode_or_refuse(cls, version, data[:end])


@pytest.mark.parametrize(("cls", "version", "data"), SAMPLES)
def test_every_byte_damaged(cls: type[Message], version: int, data: bytes) -> None:
    for position in range(len(data)):
        for value in (0x00, 0x01, 0x7F, 0x80, 0xFF):
            decode_or_refuse(cls, version, data[:position] + bytes((value,)) + data[position + 1 :])


def all_declarations() -> list[type[Message]]:
    declarations = [declaration(key) for key in API_NAMES for declaration in (request_class, response_class)]
    return [*declarations, *cluster_metadata.METADATA_RECORDS.values(), *group_offsets.VALUES.values()]


@pytest.mark.parametrize("cls", all_declarations(), ids=lambda cls: cls.__name__)
def test_random_bytes(cls: type[Message]) -> None:
    random_source = random.Random(f"{SEED} {cls.__name__}")
    for version in range(cls.VERSIONS.low, cls.VERSIONS.high + 1):
        for _ in range(RANDOM_INPUTS_PER_VERSION):
            size = random_source.randrange(RANDOM_INPUT_MAX_BYTES)
            if random_source.random() < 0.5:
                data = random_source.randbytes(size)
            else:  # small numbers get further: they pass for lengths and counts
                data = bytes(random_source.choices((0, 1, 2, 3, 4, 255), k=size))
            decode_or_refuse(cls, version, data)


@pytest.mark.parametrize(
    ("cls", "version", "data", "reason"),
    [
        (MetadataRequest, 1, "7fffffff", "field topics: 2147483647 elements cannot fit the 0 bytes"),
        (MetadataRequest, 1, "fffffffe", "field topics: element count -2 is negative"),
        (MetadataRequest, 12, "ffffffff0f", "field topics: 4294967294 elements cannot fit"),
        (MetadataRequest, 12, "ffffffffff01", "varint of more than 5 bytes"),
        (MetadataRequest, 1, "000000017fff", "field topics.name: length 32767, but only 0 bytes are left"),
        (MetadataRequest, 1, "00000001ffff", "field topics.name: length -1 is negative, and null is not allowed"),
        (MetadataRequest, 1, "000000010001ff", "field topics.name: not valid UTF-8"),
        (MetadataRequest, 9, "02ffff03", "field topics.name: string of 65534 bytes; at most 32767"),
        (MetadataRequest, 1, "0000", "field topics: the bytes end inside this field"),
        (
            JoinGroupRequest,
            0,
            "000167" + "00000000" + "0000" + "0000" + "00000001" + "000170" + "ffffffff",
            "field protocols.metadata: length -1",
        ),
        (
            ProduceRequest,
            9,
            "00ffff0000000002" + "027402" + "00000000" + "ffffffff07",
            "records: length 2147483646, but",
        ),
        (ProduceRequest, 9, "00ffff000000000101ff", "the bytes end inside this field"),
        (ProduceRequest, 9, "00ffff0000000001010003", "tagged field 0 has 3 bytes, more than are left"),
        (FetchRequest, 12, "00" * 25 + "01" + "01" + "01" + "01" + "0002" + "0561", "field cluster_id"),
        (FetchRequest, 12, "00" * 25 + "01" + "01" + "01" + "01" + "0002" + "0161", "does not end where its size says"),
    ],
)
def test_the_error_says_what_is_wrong(cls: type[Message], version: int, data: str, reason: str) -> None:
    with pytest.raises(WireError) as caught:
        decode(cls, version, bytes.fromhex(data))
    assert f"{cls.__name__} v{version}" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("cls", "version", "data"),
    [
        (MetadataRequest, 1, b"\x7f\xff\xff\xff" + bytes(1000)),
        (MetadataRequest, 1, (500).to_bytes(4, "big") + bytes(1000)),
        (MetadataRequest, 12, b"\xe9\x07" + bytes(20_000)),
        (ProduceRequest, 9, b"\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff\x07" + bytes(1000)),
        (FetchRequest, 4, bytes(17) + b"\x00\x00\x01\x00" + bytes(3000)),
    ],
)
def test_memory_stays_within_a_small_multiple_of_the_input(cls: type[Any], version: int, data: bytes) -> None:
    decode_or_refuse(cls, version, b"")  # compiled before it is measured
    tracemalloc.start()
    try:
        decode_or_refuse(cls, version, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_FLOOR_BYTES + len(data) * MEMORY_FACTOR


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.binary(max_size=60))
def test_random_request_headers(data: bytes) -> None:
    try:
        header, position = decode_request_header(data)
    except WireError:
        return
    assert -(1 << 15) <= header.api_key < 1 << 15
    assert position <= len(data)


@pytest.mark.parametrize("compression", range(8))
def test_damaged_batches(compression: int) -> None:
    records = [Record(number, number, b"key", b"value" * 20, (("h", b"v"),)) for number in range(5)]
    whole = bytes(build_batch(records, compression=compression if compression < 5 else 0))
    random_source = random.Random(SEED + compression)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(random_source.randrange(1, 4)):
            data[random_source.randrange(len(data))] = random_source.randrange(256)
        if compression >= 5:
            data[22] = compression
        try:
            for position, _ in iterate_batches(data):
                for record in iterate_records(data, position, inflated_max_bytes=1 << 20):
                    assert isinstance(record, Record)
        except WireError:
            continue
