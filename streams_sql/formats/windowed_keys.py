"""Keys that carry the bounds of a window behind their own bytes, as Kafka Streams writes them.

A time window adds its start alone, since its size is known; a session adds its end and then its start. Numbers are milliseconds in eight
bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from streams_sql.formats.serde import Undecodable
from streams_sql.language.statements import WindowKind
from streams_sql.sources import KeyWindow

_START: Final = struct.Struct(">q")
_END_AND_START: Final = struct.Struct(">qq")
_BIGINT_MAX: Final = 2**63 - 1


class Bounds(NamedTuple):
    start_ms: int
    end_ms: int


class WindowedKey(NamedTuple):
    key: bytes
    bounds: Bounds


def split_windowed(window: KeyWindow, payloads: Sequence[bytes | None]) -> list[WindowedKey | Undecodable | None]:
    """The keys without the windows, and the windows."""
    is_session = window.kind is WindowKind.SESSION
    tail = _END_AND_START.size if is_session else _START.size
    read = _session_bounds if is_session else _TimeBounds(window.size_ms)
    return [
        None
        if payload is None
        else WindowedKey(payload[:-tail], read(payload))
        if len(payload) >= tail
        else Undecodable(f"The key has {len(payload)} bytes: the bounds of its window alone take {tail}")
        for payload in payloads
    ]


def join_windowed(window: KeyWindow, keys: Sequence[bytes | None], bounds: Sequence[Bounds]) -> list[bytes | None]:
    if window.kind is WindowKind.SESSION:
        pack = _END_AND_START.pack
        return [
            None if key is None else key + pack(end_ms, start_ms)
            for key, (start_ms, end_ms) in zip(keys, bounds, strict=True)
        ]
    return [
        None if key is None else key + _START.pack(start_ms) for key, (start_ms, _) in zip(keys, bounds, strict=True)
    ]


def _session_bounds(payload: bytes) -> Bounds:
    end_ms, start_ms = _END_AND_START.unpack_from(payload, len(payload) - _END_AND_START.size)
    return Bounds(start_ms, end_ms)


class _TimeBounds:
    def __init__(self, size_ms: int | None) -> None:
        self._size_ms = size_ms or 0

    def __call__(self, payload: bytes) -> Bounds:
        start_ms: int = _START.unpack_from(payload, len(payload) - _START.size)[0]
        # A window may end beyond the last moment that eight bytes can say, as in Kafka Streams.
        return Bounds(start_ms, min(start_ms + self._size_ms, _BIGINT_MAX))
