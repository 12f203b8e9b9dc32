from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core_broker.receive_buffer import INITIAL_BYTES, LARGE_FRAME_BYTES, FrameError, ReceiveBuffer

FRAME_MAX_BYTES = 1_000_000


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def feed(buffer: ReceiveBuffer, data: bytes | memoryview, most: int) -> int:
    """What a transport does: asks for room, fills at most that much of it, says how much."""
    room = buffer.room()
    assert len(room) > 0
    count = min(len(room), len(data), most)
    room[:count] = data[:count]
    buffer.received(count)
    return count


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 100, 5_000, INITIAL_BYTES, 70_000, 200_000]), min_size=1, max_size=12),
    pieces=st.lists(st.integers(1, 100_000), min_size=1, max_size=10),
    held=st.lists(st.booleans(), min_size=1, max_size=5),
)
def test_frames_come_out_as_they_went_in_and_held_ones_stay_as_they_were(
    sizes: list[int], pieces: list[int], held: list[bool]
) -> None:
    bodies = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    stream = memoryview(b"".join(map(framed, bodies)))
    # Megabytes in single bytes would take a minute.
    pieces = [*pieces, INITIAL_BYTES]
    buffer = ReceiveBuffer(FRAME_MAX_BYTES)
    out: list[bytes] = []
    position = step = 0
    holding: tuple[memoryview, bytes] | None = None
    while len(out) < len(bodies):
        if holding is None or not buffer.has_frame():
            position += feed(buffer, stream[position:], pieces[step % len(pieces)])
        step += 1
        if holding is not None:
            view, expected = holding
            assert bytes(view) == expected, "bytes of a held frame were overwritten"
            if step % 3 == 0 or buffer.has_frame():
                holding = None
                buffer.release()
            else:
                continue
        while holding is None and (frame := buffer.next_frame()) is not None:
            out.append(bytes(frame))
            if held[len(out) % len(held)]:
                buffer.hold()
                holding = frame, bytes(frame)
        if holding is None:
            buffer.rewind()
    assert out == bodies


def test_a_large_frame_is_received_alone() -> None:
    buffer = ReceiveBuffer(FRAME_MAX_BYTES)
    stream = framed(b"a" * (2 * LARGE_FRAME_BYTES)) + framed(b"b")
    first = feed(buffer, stream, 1000)
    assert len(buffer.room()) == len(framed(b"a" * (2 * LARGE_FRAME_BYTES))) - first


@pytest.mark.parametrize("size", [-1, -(2**31), FRAME_MAX_BYTES + 1, 2**31 - 1])
def test_an_impossible_size_is_refused_before_anything_is_allocated(size: int) -> None:
    buffer = ReceiveBuffer(FRAME_MAX_BYTES)
    feed(buffer, struct.pack(">i", size) + b"x", 100)
    assert buffer.has_frame()
    assert len(buffer.room()) <= INITIAL_BYTES
    with pytest.raises(FrameError, match=f"{size} bytes"):
        buffer.next_frame()


@pytest.mark.parametrize(
    ("sent", "protocol"),
    [
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"POST /topics/t", "HTTP"),
        (b"PRI * HTTP/2.0", "HTTP"),
        (b"\x16\x03\x01\x02\x00", "TLS"),
    ],
)
def test_who_has_come_to_the_wrong_port_is_told_apart(sent: bytes, protocol: str) -> None:
    buffer = ReceiveBuffer(FRAME_MAX_BYTES)
    feed(buffer, sent, 100)
    with pytest.raises(FrameError, match=f"the peer speaks {protocol}, and this listener Kafka's protocol alone"):
        buffer.next_frame()


def test_an_idle_buffer_gives_memory_back() -> None:
    buffer = ReceiveBuffer(FRAME_MAX_BYTES)
    stream = framed(b"a" * 500_000)
    position = 0
    while position < len(stream):
        position += feed(buffer, stream[position:], 100_000)
    assert buffer.next_frame() is not None
    buffer.rewind()
    assert len(buffer.room()) > INITIAL_BYTES
    buffer.trim()
    assert len(buffer.room()) == INITIAL_BYTES
