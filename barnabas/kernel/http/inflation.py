"""Bodies that arrive compressed."""

from __future__ import annotations

import zlib
from typing import Final

from barnabas.kernel.http.errors import HttpError

GZIP_WINDOW_BITS: Final = 31
"""zlib's way to say: a gzip header and trailer around the data."""
PIECE_MAX_BYTES: Final = 256 * 1024
"""What is inflated at once of a stream: a few bytes can stand for a thousand times as many."""
BAD_REQUEST: Final = 400
UNSUPPORTED_MEDIA_TYPE: Final = 415


class Inflation:
    """Inflates a gzip body piece by piece and never makes more than one byte beyond what is allowed, whatever the input."""

    def __init__(self, max_bytes: int) -> None:
        self._stream = zlib.decompressobj(GZIP_WINDOW_BITS)
        self._left_bytes = max_bytes + 1

    @classmethod
    def of(cls, encoding: str, max_bytes: int) -> Inflation | None:
        """None for a body that is not compressed."""
        return cls(max_bytes) if _is_gzip(encoding) else None

    def add(self, data: bytes) -> bytes:
        """What this piece adds; nothing once the limit is passed."""
        if self._left_bytes <= 0 or not data:
            return b""
        if self._stream.eof:
            raise _invalid("it goes on after its end")
        try:
            part = self._stream.decompress(data, self._left_bytes)
        except zlib.error as problem:
            raise _invalid(str(problem)) from None
        if self._stream.unused_data:
            raise _invalid("it goes on after its end")
        self._left_bytes -= len(part)
        return part

    def end(self) -> None:
        """Called when the body has ended: its stream must have ended, too."""
        if not self._stream.eof:
            raise _invalid("it ends too early")


class StreamInflation:
    """Inflates a gzip body of any length, a bounded piece at a time: add what arrived, and take pieces while there are more."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(GZIP_WINDOW_BITS)
        self._compressed = b""
        self._is_full = False
        self._is_last = False

    @classmethod
    def of(cls, encoding: str) -> StreamInflation | None:
        """None for a body that is not compressed."""
        return cls() if _is_gzip(encoding) else None

    @property
    def has_more(self) -> bool:
        # After a full piece zlib may hold a rest although it has taken everything in.
        return self._is_full or bool(self._compressed)

    def add(self, data: bytes) -> None:
        if data and self._stream.eof:
            raise _invalid("it goes on after its end")
        self._compressed += data

    def finish(self) -> None:
        """The body has ended, with what was added last."""
        self._is_last = True

    def piece(self) -> bytes:
        try:
            part = self._stream.decompress(self._compressed, PIECE_MAX_BYTES)
        except zlib.error as problem:
            raise _invalid(str(problem)) from None
        self._compressed = self._stream.unconsumed_tail
        self._is_full = len(part) == PIECE_MAX_BYTES
        if self._stream.unused_data:
            raise _invalid("it goes on after its end")
        if self._is_last and not self.has_more and not self._stream.eof:
            raise _invalid("it ends too early")
        return part


def _is_gzip(encoding: str) -> bool:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return False
    if name in ("gzip", "x-gzip"):
        return True
    raise HttpError(
        UNSUPPORTED_MEDIA_TYPE,
        f"the content encoding {encoding!r} is not supported; send the body as it is or with gzip",
        headers={"accept-encoding": "gzip"},
    )


def _invalid(reason: str) -> HttpError:
    return HttpError(BAD_REQUEST, f"the body is not valid gzip: {reason}")
