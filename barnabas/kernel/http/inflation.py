"""Bodies that arrive compressed."""

from __future__ import annotations

import zlib
from typing import Final

from barnabas.kernel.http.errors import HttpError

GZIP_WINDOW_BITS: Final = 31
"""zlib's way to say: a gzip header and trailer around the data."""
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
        name = encoding.strip().lower()
        if name in ("", "identity"):
            return None
        if name in ("gzip", "x-gzip"):
            return cls(max_bytes)
        raise HttpError(
            UNSUPPORTED_MEDIA_TYPE,
            f"the content encoding {encoding!r} is not supported; send the body as it is or with gzip",
            headers={"accept-encoding": "gzip"},
        )

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


def _invalid(reason: str) -> HttpError:
    return HttpError(BAD_REQUEST, f"the body is not valid gzip: {reason}")
