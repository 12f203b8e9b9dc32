"""Records that consumers have fetched, as many as make a good portion."""

from __future__ import annotations

from typing import Final

from confluent_kafka import Consumer, Message

PORTION_MAX_RECORDS: Final = 2_000
PORTION_MAX_BYTES: Final = 256 * 1024
"""Of keys and values, but for the last few. A stream whose client has stopped to read holds one portion, and there may be thousands."""


def poll(consumer: Consumer, wait_s: float) -> list[Message]:
    """Waits for a message and takes what has been fetched behind it, too. News of ends and of failures are among them."""
    first = consumer.poll(wait_s)
    if first is None:
        return []
    found = [first]
    size_bytes = _size_bytes(first)
    while len(found) < PORTION_MAX_RECORDS and size_bytes < PORTION_MAX_BYTES:
        # As many as fit if they are like those before.
        fitting = (PORTION_MAX_BYTES - size_bytes) * len(found) // (size_bytes + 1) + 1
        wanted = min(PORTION_MAX_RECORDS - len(found), fitting)
        batch = consumer.consume(wanted, 0)
        found += batch
        size_bytes += sum(map(_size_bytes, batch))
        if len(batch) < wanted:
            break
    return found


def _size_bytes(message: Message) -> int:
    return len(message) + len(message.key() or b"")
