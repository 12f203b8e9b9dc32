"""Encodes and decodes messages. The functions for one (message, version) are compiled on first use and kept."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from barnabas.wire.decoding import compile_decoder
from barnabas.wire.encoding import compile_chunk_encoder, compile_encoder
from barnabas.wire.fields import Blob
from barnabas.wire.struct import Message
from barnabas.wire.wire_error import WireError

__all__ = ["WireError", "chunk_encoder", "decode", "decoder", "encode", "encode_chunks", "encoder"]

M = TypeVar("M", bound=Message)


def decode(cls: type[M], version: int, buffer: Blob, position: int = 0) -> tuple[M, int]:
    """The message at `position` and the position behind it.

    Only `records` fields keep a reference to `buffer` (a memoryview slice of it). WireError when the bytes are malformed.
    """
    return decoder(cls, version)(buffer, position)


def encode(message: Message, version: int) -> bytes:
    """The bytes of `message` in `version`. WireError when a value does not fit or the version lacks a field that is set."""
    return encoder(type(message), version)(message)


def encode_chunks(message: Message, version: int) -> list[Blob]:
    """As `encode`, in pieces to be sent one after the other: large `records` are pieces of their own and not copied."""
    return chunk_encoder(type(message), version)(message)


def decoder(cls: type[M], version: int) -> Callable[[Blob, int], tuple[M, int]]:
    """The compiled decoder, for hot paths: decode(buffer, position) -> (message, position)."""
    function = cls.DECODERS.get(version)
    if function is None:
        function = cls.DECODERS[version] = compile_decoder(cls, _known(cls, version))
    return cast("Callable[[Blob, int], tuple[M, int]]", function)


def encoder(cls: type[M], version: int) -> Callable[[M], bytes]:
    """The compiled encoder, for hot paths: encode(message) -> bytes."""
    function = cls.ENCODERS.get(version)
    if function is None:
        function = cls.ENCODERS[version] = compile_encoder(cls, _known(cls, version))
    return cast("Callable[[M], bytes]", function)


def chunk_encoder(cls: type[M], version: int) -> Callable[[M], list[Blob]]:
    """The compiled chunk encoder, for hot paths: encode_chunks(message) -> chunks."""
    function: Any = cls.CHUNK_ENCODERS.get(version)
    if function is None:
        function = cls.CHUNK_ENCODERS[version] = compile_chunk_encoder(cls, _known(cls, version))
    return cast("Callable[[M], list[Blob]]", function)


def _known(cls: type[Message], version: int) -> int:
    if not cls.VERSIONS.has(version):
        raise WireError(f"{cls.__name__} has no version {version}; the known versions are {cls.VERSIONS}")
    return version
