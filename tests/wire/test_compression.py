"""The codecs: every framing that clients send, and inflation within bounds."""

import gzip
import struct
import zlib

import cramjam
import pytest
from aiokafka import codec as peer  # type: ignore[import-untyped]

from barnabas.wire.compression import Compression, compress, decompress
from barnabas.wire.wire_error import WireError

COMPRESSED = [codec for codec in Compression if codec != Compression.NONE]
PAYLOADS = [b"", b"x", b"Barnabas " * 20_000, bytes(range(256)) * 300]
PEER_DECODERS = {
    Compression.GZIP: peer.gzip_decode,
    Compression.SNAPPY: peer.snappy_decode,
    Compression.LZ4: peer.lz4_decode,
    Compression.ZSTD: peer.zstd_decode,
}
PEER_ENCODERS = {
    Compression.GZIP: peer.gzip_encode,
    Compression.SNAPPY: peer.snappy_encode,
    Compression.LZ4: peer.lz4_encode,
    Compression.ZSTD: peer.zstd_encode,
}
LZ4_MAGIC = 0x184D2204
LZ4_BLOCKS_ARE_INDEPENDENT = 0x20


@pytest.mark.parametrize("codec", list(Compression))
@pytest.mark.parametrize("payload", PAYLOADS, ids=len)
def test_there_and_back(codec: Compression, payload: bytes) -> None:
    for shape in (bytes, bytearray, memoryview):
        assert bytes(decompress(codec, compress(codec, shape(payload)))) == payload
        assert bytes(decompress(codec, shape(compress(codec, payload)))) == payload


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("payload", PAYLOADS[1:], ids=len)
def test_with_a_peer(codec: Compression, payload: bytes) -> None:
    assert bytes(PEER_DECODERS[codec](bytes(compress(codec, payload)))) == payload
    assert bytes(decompress(codec, bytes(PEER_ENCODERS[codec](payload)))) == payload


def test_raw_snappy_as_librdkafka_sends_it() -> None:
    for payload in PAYLOADS:
        assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(payload))) == payload


def test_snappy_in_xerial_blocks_as_java_sends_it() -> None:
    blocks = [b"first" * 100, b"second" * 100]
    framed = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
    for block in blocks:
        raw = bytes(cramjam.snappy.compress_raw(block))
        framed += struct.pack(">i", len(raw)) + raw
    assert decompress(Compression.SNAPPY, framed) == b"".join(blocks)


def test_lz4_as_java_sends_it() -> None:
    """Frames of independent 64 KiB blocks without checksums; a block that does not shrink is stored as it is."""
    payload = b"Kafka " * 5000
    raw = bytes(cramjam.lz4.compress_block(payload, store_size=False))
    descriptor = bytes((0x60, 0x40))
    header = struct.pack("<I", LZ4_MAGIC) + descriptor + b"\x82"
    stored = b"as it is"
    frame = (
        header
        + struct.pack("<I", len(raw))
        + raw
        + struct.pack("<I", len(stored) | 0x80000000)
        + stored
        + struct.pack("<I", 0)
    )
    assert decompress(Compression.LZ4, frame) == payload + stored


def test_lz4_frames_of_ours_have_independent_blocks() -> None:
    """Kafka's own reader refuses the other kind."""
    frame = bytes(compress(Compression.LZ4, bytes(200_000)))
    assert struct.unpack_from("<I", frame)[0] == LZ4_MAGIC
    assert frame[4] & LZ4_BLOCKS_ARE_INDEPENDENT


def test_several_gzip_members_are_one_stream() -> None:
    assert decompress(Compression.GZIP, gzip.compress(b"one ") + gzip.compress(b"two")) == b"one two"


@pytest.mark.parametrize("codec", COMPRESSED)
def test_levels(codec: Compression) -> None:
    payload = bytes(range(256)) * 50
    for level in (1, 9):
        assert bytes(decompress(codec, compress(codec, payload, level))) == payload


@pytest.mark.parametrize("codec", COMPRESSED)
def test_inflation_is_bounded(codec: Compression) -> None:
    bomb = compress(codec, bytes(50_000_000))
    with pytest.raises(WireError, match="inflates to more than 100000 bytes"):
        decompress(codec, bomb, 100_000)
    exact = compress(codec, bytes(100_000))
    assert bytes(decompress(codec, exact, 100_000)) == bytes(100_000)


def test_a_raw_snappy_block_is_bounded_by_what_it_claims() -> None:
    with pytest.raises(WireError, match="inflates to more than"):
        decompress(Compression.SNAPPY, b"\xff\xff\xff\xff\x0f" + b"x")


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("payload", [b"\x05", b"garbage that is no frame", b"\xff" * 40])
def test_garbage(codec: Compression, payload: bytes) -> None:
    with pytest.raises(WireError):
        decompress(codec, payload)


@pytest.mark.parametrize("codec", COMPRESSED)
def test_truncated(codec: Compression) -> None:
    whole = bytes(compress(codec, bytes(range(256)) * 40))
    for cut in (len(whole) - 1, len(whole) // 2, 5):
        with pytest.raises(WireError):
            decompress(codec, whole[:cut])


def test_a_snappy_block_longer_than_the_data() -> None:
    with pytest.raises(WireError, match="snappy block of 99 bytes, but 3 are left"):
        decompress(Compression.SNAPPY, b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x63abc")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs(codec: int) -> None:
    with pytest.raises(WireError, match=f"compression codec {codec} is unknown; the known codecs are 0 to 4"):
        compress(codec, b"")
    with pytest.raises(WireError, match=f"compression codec {codec} is unknown"):
        decompress(codec, b"")


def test_gzip_is_the_plain_format() -> None:
    assert zlib.decompress(compress(Compression.GZIP, b"plain"), wbits=31) == b"plain"
