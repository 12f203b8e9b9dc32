"""The codecs of record batches. Inflation is bounded: a small batch cannot claim unbounded memory."""

import struct
import zlib
from enum import IntEnum
from typing import Any, Final, cast

import cramjam

from barnabas.wire.fields import Blob
from barnabas.wire.varint import read_uvarint
from barnabas.wire.wire_error import WireError

INFLATED_MAX_BYTES: Final = 256 * 1024 * 1024
_FIRST_GUESS_MIN_BYTES: Final = 64 * 1024
_FIRST_GUESS_RATIO: Final = 4

# The Java client wraps snappy in blocks of this size, behind a header of its own.
_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 * 1024

_GZIP_WINDOW_BITS: Final = 31  # 15 bits of window, plus 16 for the gzip wrapper
_GZIP_DEFAULT_LEVEL: Final = 6
_ZSTD_DEFAULT_LEVEL: Final = 3
_LZ4_DEFAULT_LEVEL: Final = 1
_OUTPUT_FULL: Final = "failed to write whole buffer"


class Compression(IntEnum):
    """A codec by its number in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(compression: int, data: Blob, level: int | None = None) -> Blob:
    """`data` as Kafka's Java client would write it: snappy in xerial framing, lz4 as frames of independent blocks."""
    if compression == Compression.NONE:
        return data
    if compression == Compression.GZIP:
        deflater = zlib.compressobj(_GZIP_DEFAULT_LEVEL if level is None else level, zlib.DEFLATED, _GZIP_WINDOW_BITS)
        return deflater.compress(data) + deflater.flush()
    if compression == Compression.SNAPPY:
        return _compress_snappy(data)
    if compression == Compression.LZ4:
        # Kafka's readers refuse frames whose blocks depend on each other.
        compressor = cramjam.lz4.Compressor(
            level=_LZ4_DEFAULT_LEVEL if level is None else level, content_checksum=False, block_linked=False
        )
        compressor.compress(bytes(data))
        return bytes(cast("Any", compressor.finish()))
    if compression == Compression.ZSTD:
        return bytes(cast("Any", cramjam.zstd.compress(data, level=_ZSTD_DEFAULT_LEVEL if level is None else level)))
    raise _unknown_codec(compression)


def decompress(compression: int, data: Blob, max_bytes: int = INFLATED_MAX_BYTES) -> Blob:
    """The inflated bytes; WireError when `data` is damaged or would inflate to more than `max_bytes`."""
    if compression == Compression.NONE:
        return data
    if compression == Compression.GZIP:
        return _decompress_gzip(data, max_bytes)
    if compression == Compression.SNAPPY:
        return _decompress_snappy(data, max_bytes)
    if compression == Compression.LZ4:
        return _decompress_growing("lz4", cramjam.lz4.decompress_into, data, max_bytes)
    if compression == Compression.ZSTD:
        return _decompress_growing("zstd", cramjam.zstd.decompress_into, data, max_bytes)
    raise _unknown_codec(compression)


def _decompress_gzip(data: Blob, max_bytes: int) -> bytes:
    out: list[bytes] = []
    left = max_bytes
    rest: Blob = data
    while len(rest):
        inflater = zlib.decompressobj(_GZIP_WINDOW_BITS)
        try:
            out.append(inflater.decompress(rest, left + 1))
        except zlib.error as error:
            raise WireError(f"gzip data is damaged: {error}") from error
        left -= len(out[-1])
        if left < 0:
            raise _too_large("gzip", max_bytes)
        if not inflater.eof:
            raise WireError("gzip data ends too early")
        rest = inflater.unused_data
    return out[0] if len(out) == 1 else b"".join(out)


def _decompress_growing(name: str, inflate_into: Any, data: Blob, max_bytes: int) -> Blob:
    """Inflates into a buffer of a guessed size, a larger one when that was too small, never above the limit."""
    size = min(max_bytes, max(_FIRST_GUESS_MIN_BYTES, len(data) * _FIRST_GUESS_RATIO))
    while True:
        out = bytearray(size)
        try:
            written = inflate_into(data, out)
        except cramjam.DecompressionError as error:
            if _OUTPUT_FULL not in str(error):
                raise WireError(f"{name} data is damaged: {error}") from error
            if size >= max_bytes:
                raise _too_large(name, max_bytes) from error
            size = min(max_bytes, size * _FIRST_GUESS_RATIO)
            continue
        return memoryview(out)[:written]


def _compress_snappy(data: Blob) -> bytes:
    view = memoryview(data)
    out = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cast("Any", cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES])))
        out.append(len(block).to_bytes(4, "big"))
        out.append(block)
    return b"".join(out)


def _decompress_snappy(data: Blob, max_bytes: int) -> Blob:
    """Both framings: xerial (Java, most others) and one raw block (librdkafka)."""
    view = memoryview(data)
    if bytes(view[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return _decompress_snappy_block(view, max_bytes, max_bytes)
    position = len(_XERIAL_HEADER)
    out: list[Blob] = []
    left = max_bytes
    while position < len(view):
        size = int.from_bytes(view[position : position + 4], "big")
        position += 4
        if not 0 < size <= len(view) - position:
            raise WireError(f"snappy block of {size} bytes, but {len(view) - position} are left")
        out.append(_decompress_snappy_block(view[position : position + size], left, max_bytes))
        left -= len(out[-1])
        position += size
    return out[0] if len(out) == 1 else b"".join(out)


def _decompress_snappy_block(block: memoryview, left_bytes: int, max_bytes: int) -> Blob:
    try:
        size, _ = read_uvarint(block, 0)
        if size > left_bytes:
            raise _too_large("snappy", max_bytes)
        out = bytearray(size)
        cramjam.snappy.decompress_raw_into(block, out)
    except (IndexError, cramjam.DecompressionError) as error:
        raise WireError(f"snappy data is damaged: {error}") from error
    return out


def _too_large(name: str, max_bytes: int) -> WireError:
    return WireError(f"{name} data inflates to more than {max_bytes} bytes")


def _unknown_codec(compression: int) -> WireError:
    return WireError(f"compression codec {compression} is unknown; the known codecs are 0 to {max(Compression)}")
