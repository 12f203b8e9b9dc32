"""Bytes, and how they are written as texts and numbers."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable
from typing import Any, Final, NoReturn

from streams_sql.evaluation.casts import decode_base64
from streams_sql.function_declaration import Group
from streams_sql.functions.registration import scalar

_ENCODINGS: Final = "'hex', 'utf8', 'ascii', and 'base64'"
_BYTE_ORDERS: Final = {"BIG_ENDIAN": ">", "LITTLE_ENDIAN": "<"}
_BASE64_ALPHABET: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_FROM_BYTES_PARAMETERS: Final = (
    "value: the bytes",
    "byteOrder: 'BIG_ENDIAN', which is meant if it is left out, or 'LITTLE_ENDIAN'",
)


def _hex_bytes(text: str) -> bytes:
    try:
        return binascii.unhexlify(text)
    except ValueError as error:
        raise ValueError(
            f"{text[:80]!r} is no hexadecimal text: it needs an even number of hexadecimal digits"
        ) from error


def _utf8_text(value: bytes) -> str:
    return value.decode(errors="replace")


def _ascii_bytes(text: str) -> bytes:
    return text.encode("ascii", "replace")


def _ascii_text(value: bytes) -> str:
    return value.decode("ascii", "replace")


def _base64_text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _upper_hex(value: bytes) -> str:
    return value.hex().upper()


_TO_BYTES: Final[dict[str, Callable[[str], bytes]]] = {
    "hex": _hex_bytes,
    "utf8": str.encode,
    "ascii": _ascii_bytes,
    "base64": decode_base64,
}
_FROM_BYTES: Final[dict[str, Callable[[bytes], str]]] = {
    "hex": _upper_hex,
    "utf8": _utf8_text,
    "ascii": _ascii_text,
    "base64": _base64_text,
}


def _refuse_encoding(encoding: str) -> NoReturn:
    raise ValueError(f"Unknown encoding type '{encoding[:80]}'. Supported formats are {_ENCODINGS}.")


@scalar(
    "to_bytes",
    "STRING, STRING -> BYTES",
    group=Group.STRING,
    doc=f"Bytes from a text in an encoding: {_ENCODINGS}.",
    parameters=("value: the text", "encoding"),
)
def to_bytes(text: str, encoding: str) -> bytes:
    convert = _TO_BYTES.get(encoding.lower()) or _refuse_encoding(encoding)
    return convert(text)


@scalar(
    "from_bytes",
    "BYTES, STRING -> STRING",
    group=Group.STRING,
    doc=f"A text from bytes in an encoding: {_ENCODINGS}.",
    parameters=("value: the bytes", "encoding"),
)
def from_bytes(value: bytes, encoding: str) -> str:
    convert = _FROM_BYTES.get(encoding.lower()) or _refuse_encoding(encoding)
    return convert(value)


@scalar(
    "encode",
    "STRING, STRING, STRING -> STRING",
    group=Group.STRING,
    doc=f"A text in one encoding as a text in another one: {_ENCODINGS}.",
    parameters=("str: the text", "inputEncoding", "outputEncoding"),
)
def encode(text: str, source: str, target: str) -> str:
    source, target = source.lower(), target.lower()
    if source == target or source not in _TO_BYTES or target not in _FROM_BYTES:
        raise ValueError("Supported input and output encodings are: hex, utf8, ascii and base64, and they must differ")
    if source == "hex":
        value = _hex_bytes(_without_hex_marks(text))
    elif source == "base64":
        value = _lenient_base64(text)
    else:
        value = _TO_BYTES[source](text)
    return value.hex() if target == "hex" else _FROM_BYTES[target](value)


def _without_hex_marks(text: str) -> str:
    """Digits alone, from 0xAB79 and X'AB79' as well."""
    if text.startswith("0x"):
        return "0" * (len(text) % 2) + text[2:]
    if text[:2] in ("x'", "X'") and text.endswith("'") and len(text) > 2:
        return text[2:-1]
    return text


def _lenient_base64(text: str) -> bytes:
    """As the library does that ksqlDB uses here: both alphabets are taken, and what belongs to none is skipped."""
    standard = text.encode(errors="replace").translate(bytes.maketrans(b"-_", b"+/"))
    digits = bytes(byte for byte in standard.partition(b"=")[0] if byte in _BASE64_ALPHABET)
    if len(digits) % 4 == 1:
        digits = digits[:-1]
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


def _unpack(value: bytes, letter: str, size: int, order: str) -> Any:
    """A number from its bytes; `letter` is struct's for its kind."""
    sign = _BYTE_ORDERS.get(order.upper())
    if sign is None:
        raise ValueError(f"Byte order must be BIG_ENDIAN or LITTLE_ENDIAN. Unknown byte order '{order[:80]}'.")
    if len(value) != size:
        raise ValueError(f"Number of bytes must be equal to {size}, but found {len(value)}")
    return struct.unpack(sign + letter, value)[0]


@scalar(
    "int_from_bytes",
    "BYTES -> INTEGER",
    "BYTES, STRING -> INTEGER",
    group=Group.STRING,
    doc="The INTEGER that 4 bytes are.",
    parameters=_FROM_BYTES_PARAMETERS,
)
def int_from_bytes(value: bytes, order: str = "BIG_ENDIAN") -> int:
    return int(_unpack(value, "i", 4, order))


@scalar(
    "bigint_from_bytes",
    "BYTES -> BIGINT",
    "BYTES, STRING -> BIGINT",
    group=Group.STRING,
    doc="The BIGINT that 8 bytes are.",
    parameters=_FROM_BYTES_PARAMETERS,
)
def bigint_from_bytes(value: bytes, order: str = "BIG_ENDIAN") -> int:
    return int(_unpack(value, "q", 8, order))


@scalar(
    "double_from_bytes",
    "BYTES -> DOUBLE",
    "BYTES, STRING -> DOUBLE",
    group=Group.STRING,
    doc="The DOUBLE that 8 bytes are.",
    parameters=_FROM_BYTES_PARAMETERS,
)
def double_from_bytes(value: bytes, order: str = "BIG_ENDIAN") -> float:
    return float(_unpack(value, "d", 8, order))
