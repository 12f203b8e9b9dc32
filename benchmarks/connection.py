"""A blocking connection to a broker, and the questions that surround a load: create, delete, count, are you there."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

from benchmarks import wire
from benchmarks.wire import Topic, UnexpectedAnswer

HOST = "127.0.0.1"
PROBE_TIMEOUT_SECONDS = 1.0
PROBE_INTERVAL_SECONDS = 0.002
# Asking for thousands of partitions is work for the broker: seldom enough not to hinder it.
LEADER_PROBE_INTERVAL_SECONDS = 0.02
# An answer of a fetch over 6 partitions is a little above 6 MiB.
RECEIVE_BUFFER_BYTES = 8 << 20


class Connection:
    """Sends frames and receives whole ones, each into the same buffer."""

    def __init__(self, port: int, *, timeout_seconds: float | None = None) -> None:
        self.socket = socket.create_connection((HOST, port), timeout=timeout_seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(64 << 10)

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, frame: bytes | bytearray | memoryview) -> None:
        self.socket.sendall(frame)

    def receive(self) -> memoryview:
        """One whole frame with its length in front; valid until the next call."""
        view = memoryview(self._buffer)
        got = self._receive_up_to(view, 0)
        while got < 4:
            got += self._receive_up_to(view, got)
        total: int = 4 + struct.unpack_from(">i", view)[0]
        if total > len(view):
            bigger = bytearray(max(total, RECEIVE_BUFFER_BYTES))
            bigger[:got] = view[:got]
            self._buffer, view = bigger, memoryview(bigger)
        while got < total:
            got += self._receive_up_to(view[:total], got, socket.MSG_WAITALL)
        return view[:total]

    def ask(self, frame: bytes) -> bytes:
        self.send(frame)
        return bytes(self.receive())

    def _receive_up_to(self, view: memoryview, start: int, flags: int = 0) -> int:
        got = self.socket.recv_into(view[start:], 0, flags)
        if not got:
            raise ConnectionError("the broker closed the connection; its log says why")
        return got


def create_topics(
    port: int, names: Sequence[str], partitions: int, configs: Mapping[str, str] | None = None
) -> list[Topic]:
    """Creates the topics in one request and returns when every partition answers for itself."""
    with Connection(port) as connection:
        topics = wire.created_topics(connection.ask(wire.create_topics_request(names, partitions, configs or {})))
        await_leaders(connection, topics)
    return topics


def await_leaders(connection: Connection, topics: Sequence[Topic], limit_seconds: float = 60) -> None:
    """A broker may answer CreateTopics before the partitions are open: wait until each can say its end offset."""
    frame = wire.list_offsets_request(topics)
    deadline = time.monotonic() + limit_seconds
    while True:
        errors = {error for error, _ in wire.listed_offsets(connection.ask(frame)).values()} - {0}
        if not errors:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"partitions still answer errors {sorted(errors)} {limit_seconds} s after their creation"
            )
        time.sleep(PROBE_INTERVAL_SECONDS)


def delete_topics(port: int, topics: Sequence[Topic]) -> None:
    with Connection(port) as connection:
        wire.check_deleted(connection.ask(wire.delete_topics_request(topics)))


def records_in(port: int, topic: Topic) -> int:
    """The sum of the end offsets: in a topic that only we write to, the number of records."""
    with Connection(port) as connection:
        offsets = wire.listed_offsets(connection.ask(wire.list_offsets_request([topic])))
    for (name, partition), (error, _) in offsets.items():
        if error:
            raise UnexpectedAnswer(f"ListOffsets of {name}-{partition} answered error {error}")
    return sum(offset for _, offset in offsets.values())


def answers(port: int) -> bool:
    """Whether somebody answers Metadata with at least one broker."""
    try:
        with Connection(port, timeout_seconds=PROBE_TIMEOUT_SECONDS) as connection:
            return wire.broker_count(connection.ask(wire.metadata_request())) >= 1
    except (OSError, struct.error, IndexError):
        return False
