"""How lines travel: as server-sent events, or one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from confluent_kafka import Message

from rest_proxy.streams.positions import Positions, id_around


class Framing(Enum):
    """The value is the content type."""

    EVENTS = "text/event-stream"
    LINES = "application/x-ndjson"

    def body(self, messages: Sequence[Message], lines: Sequence[bytes], positions: Positions) -> bytes:
        """The records of a batch; `positions` are moved behind them. An event says where to go on after it."""
        if self is Framing.EVENTS:
            return _events(messages, lines, positions)
        for message in messages:
            positions[message.partition() or 0] = (message.offset() or 0) + 1
        return b"".join([line + b"\n" for line in lines])

    def error(self, line: bytes) -> bytes:
        """The last words of a stream that cannot go on."""
        return b"event: error\ndata: %b\n\n" % line if self is Framing.EVENTS else line + b"\n"

    def opening(self, positions: Positions) -> bytes:
        """The first sign of a stream: an event without data, of which a client keeps the id alone. When it loses its connection before
        anything came, it says where it was."""
        if self is not Framing.EVENTS:
            return b""
        return b"id: %b\n\n" % ",".join(f"{number}:{offset}" for number, offset in positions.items()).encode()

    @property
    def heartbeat(self) -> bytes:
        """A comment to send while nothing happens, so that both sides notice when the other is gone; lines have none."""
        return b": \n\n" if self is Framing.EVENTS else b""


def _events(messages: Sequence[Message], lines: Sequence[bytes], positions: Positions) -> bytes:
    parts: list[bytes] = []
    current, before, after = -1, b"", b""
    for message, line in zip(messages, lines, strict=True):
        partition, following = message.partition() or 0, (message.offset() or 0) + 1
        positions[partition] = following
        if partition != current:
            # Records come partition by partition, so that the rest of the id is the same for many.
            current = partition
            before, after = id_around(positions, partition)
        parts.append(b"id: %b%d%b\ndata: %b\n\n" % (before, following, after, line))
    return b"".join(parts)
