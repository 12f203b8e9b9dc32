"""The few Kafka requests that a load needs, written and read by hand.

The measuring side shares no code with the broker that it measures, so a mistake cannot hide by being made twice. Every request
here is of a flexible version (compact lengths, tag sections).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CLIENT_ID = b"benchmark"
LATEST_TIMESTAMP = -1
PRODUCE, FETCH, LIST_OFFSETS, METADATA, CREATE_TOPICS, DELETE_TOPICS = 0, 1, 2, 3, 19, 20
VERSIONS = {PRODUCE: 12, FETCH: 16, LIST_OFFSETS: 7, METADATA: 12, CREATE_TOPICS: 7, DELETE_TOPICS: 6}
# Length, correlation id and an empty tag section come before the body of every response.
RESPONSE_BODY_AT = 9
PRODUCE_TIMEOUT_MS = 30_000
ADMIN_TIMEOUT_MS = 60_000
# What the Java consumer and librdkafka ask for unless told otherwise.
FETCH_MAX_BYTES = 50 << 20
FETCH_PARTITION_MAX_BYTES = 1 << 20
NO_TAGS = b"\x00"
ABSENT = b"\x00"


class UnexpectedAnswer(Exception):
    """The broker answered with an error code, or not what was asked for."""


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: bytes
    partitions: int


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def compact(data: bytes) -> bytes:
    return uvarint(len(data) + 1) + data


def compact_array(items: Sequence[bytes]) -> bytes:
    return uvarint(len(items) + 1) + b"".join(items)


def request(api_key: int, body: bytes) -> bytes:
    """One whole frame. The correlation id is 0 throughout: answers on one connection come in order."""
    header = struct.pack(">hhih", api_key, VERSIONS[api_key], 0, len(CLIENT_ID)) + CLIENT_ID + NO_TAGS
    return struct.pack(">i", len(header) + len(body)) + header + body


class Reader:
    """Reads a response from front to back."""

    def __init__(self, data: bytes | bytearray | memoryview, position: int = 0) -> None:
        self.data = data
        self.position = position

    def number(self, form: str) -> int:
        values: tuple[int] = struct.unpack_from(form, self.data, self.position)
        self.position += struct.calcsize(form)
        return values[0]

    def int16(self) -> int:
        return self.number(">h")

    def int32(self) -> int:
        return self.number(">i")

    def int64(self) -> int:
        return self.number(">q")

    def uvarint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def raw(self, length: int) -> bytes:
        self.position += length
        return bytes(self.data[self.position - length : self.position])

    def length(self) -> int:
        """Of a compact string, byte string or array; null counts as empty."""
        return max(self.uvarint() - 1, 0)

    def string(self) -> str:
        return self.raw(self.length()).decode()

    def tags(self) -> None:
        for _ in range(self.uvarint()):
            self.uvarint()
            self.raw(self.uvarint())


def metadata_request() -> bytes:
    """Asks for the brokers and no topic."""
    return request(METADATA, compact_array(()) + b"\x00\x00" + NO_TAGS)


def broker_count(answer: bytes) -> int:
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    return reader.length()


def create_topics_request(topics: Sequence[str], partitions: int, configs: Mapping[str, str]) -> bytes:
    settings = compact_array([compact(k.encode()) + compact(v.encode()) + NO_TAGS for k, v in configs.items()])
    shape = struct.pack(">ih", partitions, 1) + compact_array(()) + settings + NO_TAGS
    body = compact_array([compact(name.encode()) + shape for name in topics])
    return request(CREATE_TOPICS, body + struct.pack(">i?", ADMIN_TIMEOUT_MS, False) + NO_TAGS)


def created_topics(answer: bytes) -> list[Topic]:
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    topics = []
    for _ in range(reader.length()):
        name, topic_id, error, message = reader.string(), reader.raw(16), reader.int16(), reader.string()
        if error:
            raise UnexpectedAnswer(f"CreateTopics of {name} answered error {error}: {message or 'no message'}")
        topics.append(Topic(name, topic_id, reader.int32()))
        reader.int16()
        for _ in range(reader.length()):
            reader.string()
            reader.string()
            reader.raw(3)
            reader.tags()
        reader.tags()
    return topics


def delete_topics_request(topics: Sequence[Topic]) -> bytes:
    body = compact_array([compact(topic.name.encode()) + bytes(16) + NO_TAGS for topic in topics])
    return request(DELETE_TOPICS, body + struct.pack(">i", ADMIN_TIMEOUT_MS) + NO_TAGS)


def check_deleted(answer: bytes) -> None:
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    for _ in range(reader.length()):
        name, _, error, message = reader.string(), reader.raw(16), reader.int16(), reader.string()
        reader.tags()
        if error:
            raise UnexpectedAnswer(f"DeleteTopics of {name} answered error {error}: {message or 'no message'}")


def list_offsets_request(topics: Sequence[Topic], timestamp: int = LATEST_TIMESTAMP) -> bytes:
    def one(topic: Topic) -> bytes:
        partitions = [struct.pack(">iiq", index, -1, timestamp) + NO_TAGS for index in range(topic.partitions)]
        return compact(topic.name.encode()) + compact_array(partitions) + NO_TAGS

    return request(LIST_OFFSETS, struct.pack(">ib", -1, 0) + compact_array([one(topic) for topic in topics]) + NO_TAGS)


def listed_offsets(answer: bytes) -> dict[tuple[str, int], tuple[int, int]]:
    """(error code, offset) by topic and partition."""
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    offsets = {}
    for _ in range(reader.length()):
        name = reader.string()
        for _ in range(reader.length()):
            partition, error, _, offset, _ = (
                reader.int32(),
                reader.int16(),
                reader.int64(),
                reader.int64(),
                reader.int32(),
            )
            reader.tags()
            offsets[name, partition] = (error, offset)
        reader.tags()
    return offsets


def produce_request(topic: str, partition: int, batch: bytes, acks: int, transactional_id: str | None = None) -> bytes:
    """One batch to one partition."""
    return request(PRODUCE, produce_prefix(topic, partition, acks, transactional_id) + compact(batch) + NO_TAGS * 3)


def produce_prefix(topic: str, partition: int, acks: int, transactional_id: str | None = None) -> bytes:
    """The body of `produce_request` up to the length of the records."""
    who = ABSENT if transactional_id is None else compact(transactional_id.encode())
    head = who + struct.pack(">hi", acks, PRODUCE_TIMEOUT_MS)
    return head + uvarint(2) + compact(topic.encode()) + uvarint(2) + struct.pack(">i", partition)


def produce_error_at(topic: str) -> int:
    """Where the error code stands in the answer to `produce_request`: the hot loop looks at nothing else."""
    return RESPONSE_BODY_AT + 1 + len(compact(topic.encode())) + 1 + 4


class FetchRequest:
    """A full fetch of every partition of one topic, outside of any session; only the offsets change from one to the next."""

    _PARTITION = struct.Struct(">iiqiqi")
    _OFFSET_IN_PARTITION = 8

    def __init__(self, topic: Topic, *, max_wait_ms: int, min_bytes: int) -> None:
        body = struct.pack(">iiibii", max_wait_ms, min_bytes, FETCH_MAX_BYTES, 0, 0, -1)
        body += uvarint(2) + topic.topic_id + uvarint(topic.partitions + 1)
        first = len(request(FETCH, body))
        for index in range(topic.partitions):
            body += self._PARTITION.pack(index, -1, 0, -1, -1, FETCH_PARTITION_MAX_BYTES) + NO_TAGS
        body += NO_TAGS + compact_array(()) + compact(b"") + NO_TAGS
        self.frame = bytearray(request(FETCH, body))
        stride = self._PARTITION.size + len(NO_TAGS)
        self.offsets_at = [first + index * stride + self._OFFSET_IN_PARTITION for index in range(topic.partitions)]

    def ask_from(self, partition: int, offset: int) -> None:
        struct.pack_into(">q", self.frame, self.offsets_at[partition], offset)


def fetched_records(answer: memoryview) -> list[tuple[int, int, int]]:
    """(partition, start, end) of each partition's records inside the answer."""
    reader = Reader(answer, RESPONSE_BODY_AT)
    reader.int32()
    error = reader.int16()
    if error:
        raise UnexpectedAnswer(f"Fetch answered error {error}")
    reader.int32()
    found = []
    for _ in range(reader.length()):
        reader.raw(16)
        for _ in range(reader.length()):
            partition, error = reader.int32(), reader.int16()
            if error:
                raise UnexpectedAnswer(f"Fetch of partition {partition} answered error {error}")
            reader.position += 24
            for _ in range(reader.length()):
                reader.position += 16
                reader.tags()
            reader.int32()
            size = reader.length()
            found.append((partition, reader.position, reader.position + size))
            reader.position += size
            reader.tags()
        reader.tags()
    return found
