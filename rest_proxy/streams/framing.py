"""How lines travel: as server-sent events, or one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from confluent_kafka import Message

from rest_proxy.streams.positions import Positions, event_id


class Framing(Enum):
    """The value is the content type."""

    EVENTS = "text/event-stream"
    LINES = "application/x-ndjson"

    def body(self, messages: Sequence[Message], lines: Sequence[bytes], positions: Positions) -> bytes:
        """The records of a batch; `positions` are moved behind them. An event says where to go on after it."""
        parts: list[bytes] = []
        for message, line in zip(messages, lines, strict=True):
            positions[message.partition() or 0] = (message.offset() or 0) + 1
            if self is Framing.EVENTS:
                parts.append(b"id: %b\ndata: %b\n\n" % (event_id(positions).encode(), line))
            else:
                parts.append(line + b"\n")
        return b"".join(parts)

    def error(self, line: bytes) -> bytes:
        """The last words of a stream that cannot go on."""
        return b"event: error\ndata: %b\n\n" % line if self is Framing.EVENTS else line + b"\n"

    @property
    def heartbeat(self) -> bytes:
        """A comment to send while nothing happens, so that both sides notice when the other is gone; lines have none."""
        return b": \n\n" if self is Framing.EVENTS else b""
