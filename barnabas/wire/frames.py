"""Frames on a connection: a 4-byte length, a header, a message."""

import struct
from typing import Final, NamedTuple

from barnabas.wire.apis import request_header_version
from barnabas.wire.codec import encode
from barnabas.wire.decoding import skip_tags
from barnabas.wire.fields import Blob
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError

LENGTH_PREFIX_BYTES: Final = 4

_FOREIGN: Final = {
    **dict.fromkeys((b"HTTP", b"GET ", b"HEAD", b"POST", b"PUT ", b"PATC", b"DELE", b"OPTI", b"PRI "), "HTTP"),
    **dict.fromkeys((b"\x15\x03", b"\x16\x03"), "TLS"),
}
"""How other protocols begin: a status line or a method, an alert or a handshake."""

_length = struct.Struct(">i")
_request_head = struct.Struct(">hhih")
_framed_request_head = struct.Struct(">ihhih")
_response_head = struct.Struct(">ii")
_flexible_response_head = struct.Struct(">iix")


class RequestHeader(NamedTuple):
    """What precedes every request. `client_id` may be null, and is a legacy string even in flexible requests."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def frame_length(buffer: Blob, position: int, max_bytes: int) -> int:
    """The length of the frame whose prefix stands at `position`; WireError when no such frame can be accepted."""
    (length,) = _length.unpack_from(buffer, position)
    if 0 <= length <= max_bytes:
        return int(length)
    if length < 0:
        raise WireError(f"frame length {length} is negative; the peer does not speak the Kafka protocol")
    if (protocol := foreign_protocol(buffer, position)) is not None:
        raise WireError(f"the peer speaks {protocol}, not the Kafka protocol")
    raise WireError(f"frame of {length} bytes is larger than the {max_bytes} bytes allowed")


def foreign_protocol(buffer: Blob, position: int = 0) -> str | None:
    """What the peer speaks, where the length prefix at `position` is the beginning of something else."""
    prefix = bytes(buffer[position : position + LENGTH_PREFIX_BYTES])
    return next((name for beginning, name in _FOREIGN.items() if prefix.startswith(beginning)), None)


def decode_request_header(buffer: Blob, position: int = 0) -> tuple[RequestHeader, int]:
    """The header of the request at `position` and the position of its body."""
    try:
        key, version, correlation_id, length = _request_head.unpack_from(buffer, position)
        position += 10
        client_id = None
        if length >= 0:
            end = position + length
            if end > len(buffer):
                raise WireError(f"request header: client id of {length} bytes, more than the frame has")
            client_id = str(buffer[position:end], "utf-8")
            position = end
        elif length != -1:
            raise WireError(f"request header: client id has the negative length {length}")
        if request_header_version(key, version) == 2:
            # Nearly always the section is empty, which is one zero byte.
            position = position + 1 if buffer[position] == 0 else skip_tags(buffer, position)
    except (struct.error, IndexError):
        raise WireError(f"request header: the frame of {len(buffer)} bytes ends inside it") from None
    except UnicodeDecodeError:
        raise WireError("request header: the client id is not valid UTF-8") from None
    return RequestHeader(key, version, correlation_id, client_id), position


def encode_request(message: Message, version: int, correlation_id: int, client_id: str | None) -> bytes:
    """A whole request frame."""
    identity = b"" if client_id is None else client_id.encode()
    tags = b"\0" if request_header_version(message.API_KEY, version) == 2 else b""
    body = encode(message, version)
    length = _request_head.size + len(identity) + len(tags) + len(body)
    head = _framed_request_head.pack(
        length, message.API_KEY, version, correlation_id, -1 if client_id is None else len(identity)
    )
    return b"".join((head, identity, tags, body))


def response_head(correlation_id: int, header_version: int, body_bytes: int) -> bytes:
    """Length prefix and header of a response whose message takes `body_bytes`."""
    if header_version:
        return _flexible_response_head.pack(body_bytes + 5, correlation_id)
    return _response_head.pack(body_bytes + 4, correlation_id)


def frame_response(correlation_id: int, header_version: int, body: bytes) -> bytes:
    """A whole response frame."""
    return response_head(correlation_id, header_version, len(body)) + body


def frame_response_chunks(correlation_id: int, header_version: int, chunks: list[Blob]) -> list[Blob]:
    """A whole response frame in pieces; the first piece carries the head, the others are passed on as they are."""
    size = sum([len(chunk) for chunk in chunks])
    return [response_head(correlation_id, header_version, size) + chunks[0], *chunks[1:]]


def decode_response_header(buffer: Blob, position: int, header_version: int) -> tuple[int, int]:
    """The correlation id of the response at `position` and the position of its body."""
    try:
        (correlation_id,) = _length.unpack_from(buffer, position)
        position += 4
        if header_version:
            position = skip_tags(buffer, position)
    except (struct.error, IndexError):
        raise WireError(f"response header: the frame of {len(buffer)} bytes ends inside it") from None
    return int(correlation_id), position
