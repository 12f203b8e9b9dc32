"""Lengths and headers around messages."""

import pytest

from barnabas.wire.codec import WireError, encode
from barnabas.wire.fields import Blob
from barnabas.wire.frames import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request,
    frame_length,
    frame_response,
    frame_response_chunks,
)
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.sasl_handshake import SaslHandshakeRequest

METADATA = 3


@pytest.mark.parametrize("client_id", ["rdkafka", "", "ä" * 50, None])
@pytest.mark.parametrize(
    ("message", "version"), [(MetadataRequest(), 8), (MetadataRequest(), 9), (SaslHandshakeRequest(), 1)]
)
def test_a_request_there_and_back(message: MetadataRequest, version: int, client_id: str | None) -> None:
    frame = encode_request(message, version, 77, client_id)
    assert frame_length(frame, 0, 1000) == len(frame) - 4
    header, position = decode_request_header(memoryview(frame), 4)
    assert header == RequestHeader(message.API_KEY, version, 77, client_id)
    assert frame[position:] == encode(message, version)


def test_header_bytes() -> None:
    """The client id keeps its two-byte length in flexible requests, and the tag section follows it."""
    assert encode_request(MetadataRequest(topics=[]), 8, 5, "me")[
        4:18
    ] == b"\x00\x03\x00\x08\x00\x00\x00\x05\x00\x02me" + bytes(2)
    assert (
        encode_request(MetadataRequest(topics=[]), 9, 5, "me")[4:18]
        == b"\x00\x03\x00\x09\x00\x00\x00\x05\x00\x02me\x00\x01"
    )


def test_tags_of_a_header_are_skipped() -> None:
    data = b"\x00\x03\x00\x0c\x00\x00\x00\x01\xff\xff" + b"\x02\x00\x01a\x07\x00" + b"body"
    header, position = decode_request_header(data)
    assert header == RequestHeader(METADATA, 12, 1, None)
    assert data[position:] == b"body"


def test_header_of_an_api_that_does_not_exist() -> None:
    header, position = decode_request_header(b"\x7f\x00\x00\x01\x00\x00\x00\x09\x00\x01c")
    assert header == RequestHeader(0x7F00, 1, 9, "c")
    assert position == 11


def test_api_versions_of_a_future_version_has_a_flexible_header() -> None:
    header, position = decode_request_header(b"\x00\x12\x00\x63\x00\x00\x00\x09\x00\x01c\x00rest")
    assert header == RequestHeader(18, 99, 9, "c")
    assert position == 12


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends inside it"),
        (b"\x00\x03\x00\x00\x00\x00\x00\x01\x00", "ends inside it"),
        (b"\x00\x03\x00\x09\x00\x00\x00\x01\xff\xff", "ends inside it"),
        (b"\x00\x03\x00\x00\x00\x00\x00\x01\x00\x05abc", "client id of 5 bytes"),
        (b"\x00\x03\x00\x00\x00\x00\x00\x01\xff\xfe", "negative length -2"),
        (b"\x00\x03\x00\x00\x00\x00\x00\x01\x00\x01\xff", "not valid UTF-8"),
    ],
)
def test_headers_that_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        decode_request_header(data)


@pytest.mark.parametrize(
    ("prefix", "reason"),
    [
        (b"\xff\xff\xff\xff", "frame length -1 is negative"),
        (b"\x00\x00\x04\x01", "frame of 1025 bytes is larger than the 1024"),
        (b"HTTP", "the peer speaks HTTP, not the Kafka protocol"),
        (b"GET ", "the peer speaks HTTP, not the Kafka protocol"),
        (b"POST", "the peer speaks HTTP, not the Kafka protocol"),
        (b"\x15\x03\x03\x00", "the peer speaks TLS, not the Kafka protocol"),
        (b"\x16\x03\x01\x02", "the peer speaks TLS, not the Kafka protocol"),
    ],
)
def test_lengths_that_are_refused(prefix: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        frame_length(prefix, 0, 1024)


def test_the_longest_frame_is_accepted() -> None:
    assert frame_length(b"..\x00\x00\x04\x00", 2, 1024) == 1024


@pytest.mark.parametrize("header_version", [0, 1])
def test_a_response_there_and_back(header_version: int) -> None:
    frame = frame_response(42, header_version, b"body")
    assert frame_length(frame, 0, 100) == len(frame) - 4
    correlation_id, position = decode_response_header(frame, 4, header_version)
    assert correlation_id == 42
    assert frame[position:] == b"body"
    large = memoryview(b"L" * 5000)
    chunks: list[Blob] = [b"head", large, b"tail"]
    framed = frame_response_chunks(42, header_version, chunks)
    assert framed[1] is large
    assert b"".join(framed) == frame_response(42, header_version, b"".join(chunks))


def test_a_response_header_that_is_cut_off() -> None:
    with pytest.raises(WireError, match="ends inside it"):
        decode_response_header(b"\x00\x00", 0, 0)
    with pytest.raises(WireError, match="ends inside it"):
        decode_response_header(b"\x00\x00\x00\x01", 0, 1)
