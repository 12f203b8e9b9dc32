"""Bytes from a socket, cut into frames where they lie."""

from __future__ import annotations

import struct
from typing import Final

INITIAL_BYTES = 16 * 1024
"""Small, because every idle connection keeps one."""

BUSY_BYTES = 256 * 1024
"""What a connection gets that keeps filling its buffer: then one receive brings many small requests."""

LARGE_FRAME_BYTES = 64 * 1024
"""A frame of at least this size is received alone, so that no bytes of its successor have to be moved afterwards."""

SIZE_BYTES = 4
_size_of = struct.Struct(">i").unpack_from

_OTHER_PROTOCOLS: Final = {
    "HTTP": (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PRI "),
    "TLS": (b"\x16\x03",),
}
"""How those begin that often come to the wrong port."""


class FrameError(ValueError):
    """The peer announced a frame that no Kafka client sends."""


class ReceiveBuffer:
    """Hands out room to receive into and whole frames as writable views of the same memory.

    A frame's bytes stay where they are until the next call of `next_frame`, or while `held` is set, until it is cleared.
    What arrives meanwhile goes behind the frame, or into a second buffer where there is no room.
    """

    __slots__ = ("_data", "_end", "_frame_max_bytes", "_held", "_spare", "_start", "_view", "_wanted")

    def __init__(self, frame_max_bytes: int) -> None:
        self._frame_max_bytes = frame_max_bytes
        self._data = bytearray(INITIAL_BYTES)
        self._view = memoryview(self._data)
        self._wanted = INITIAL_BYTES
        self._start = 0
        self._end = 0
        self._held: bytearray | None = None
        self._spare: bytearray | None = None

    def room(self) -> memoryview:
        """Where the next bytes go: never empty."""
        end = self._end
        missing = self._missing()
        capacity = len(self._data)
        if missing > capacity - end or end == capacity:
            self._make_room(max(missing, 1))
            end = self._end
            capacity = len(self._data)
        if missing >= LARGE_FRAME_BYTES or (missing and end - self._start >= LARGE_FRAME_BYTES):
            return self._view[end : end + missing]
        return self._view[end:capacity]

    def received(self, count: int) -> None:
        self._end += count
        if self._end == len(self._data) and self._end < BUSY_BYTES:
            self._wanted = min(2 * self._end, BUSY_BYTES)

    def next_frame(self) -> memoryview | None:
        """The next whole frame without its length, or None if it has not arrived yet."""
        start = self._start
        if self._end - start < SIZE_BYTES:
            return None
        size: int = _size_of(self._data, start)[0]
        if size < 0 or size > self._frame_max_bytes:
            raise FrameError(self._refusal(size, bytes(self._data[start : start + SIZE_BYTES])))
        body = start + SIZE_BYTES
        after = body + size
        if after > self._end:
            return None
        frame = self._view[body:after]
        self._start = after
        return frame

    def _refusal(self, size: int, first: bytes) -> str:
        for protocol, beginnings in _OTHER_PROTOCOLS.items():
            if first.startswith(beginnings):
                return f"the peer speaks {protocol}, and this listener Kafka's protocol alone, without TLS"
        return (
            f"a frame of {size} bytes was announced, but at most socket.request.max.bytes={self._frame_max_bytes} are "
            "accepted; either the peer does not speak Kafka's protocol, or its requests are larger than this broker allows"
        )

    def has_frame(self) -> bool:
        """Whether a whole frame waits (a malformed one counts, so that it is looked at)."""
        if self._end - self._start < SIZE_BYTES:
            return False
        size: int = _size_of(self._data, self._start)[0]
        return size < 0 or size > self._frame_max_bytes or self._end - self._start - SIZE_BYTES >= size

    def hold(self) -> None:
        """Keeps the frame last handed out untouched until `release`."""
        self._held = self._data

    def release(self) -> None:
        held, self._held = self._held, None
        if held is not None and held is not self._data:
            self._spare = held
        elif self._start == self._end:
            self._start = self._end = 0

    def rewind(self) -> None:
        """Starts at the front again when nothing is left: the last frame's bytes are no longer needed."""
        if self._start == self._end and self._held is None:
            self._start = self._end = 0
            if self._wanted > len(self._data):
                self._replace(bytearray(self._wanted))

    def trim(self) -> None:
        """Gives memory back on an idle connection."""
        self._spare = None
        self._wanted = INITIAL_BYTES
        if self._start == self._end and self._held is None and len(self._data) > INITIAL_BYTES:
            self._replace(bytearray(INITIAL_BYTES))

    def _missing(self) -> int:
        """How many bytes of the frame under way have not arrived; 0 while its length is unknown."""
        have = self._end - self._start
        if have < SIZE_BYTES:
            return 0
        size: int = _size_of(self._data, self._start)[0]
        if size < 0 or size > self._frame_max_bytes:
            return 0
        return max(0, size + SIZE_BYTES - have)

    def _make_room(self, missing: int) -> None:
        needed = max(self._end - self._start + missing, self._wanted)
        if self._held is None and needed <= len(self._data):
            self._view[: self._end - self._start] = self._view[self._start : self._end]
            self._start, self._end = 0, self._end - self._start
            return
        spare, self._spare = self._spare, None
        self._replace(spare if spare is not None and len(spare) >= needed else bytearray(needed))

    def _replace(self, data: bytearray) -> None:
        """Moves on to another buffer with the bytes not yet handed out; a view of the old one keeps it alive."""
        view = memoryview(data)
        waiting = self._end - self._start
        view[:waiting] = self._view[self._start : self._end]
        self._data, self._view = data, view
        self._start, self._end = 0, waiting
