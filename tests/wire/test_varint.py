"""Variable-length integers, against kio's readers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.serial.readers import read_signed_varlong, read_unsigned_varint

from barnabas.wire.varint import read_uvarint, read_varlong, uvarint, varlong
from barnabas.wire.wire_error import WireError

EDGES = [0, 1, 63, 64, 127, 128, 8191, 8192, 16383, 16384, 2097151, 2097152, 268435455, 268435456, (1 << 31) - 1]


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.integers(0, (1 << 31) - 1) | st.sampled_from(EDGES))
def test_unsigned(value: int) -> None:
    data = uvarint(value)
    assert read_uvarint(b"." + data + b".", 1) == (value, 1 + len(data))
    assert read_unsigned_varint(data, 0) == (value, len(data))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from(EDGES + [-edge for edge in EDGES]))
def test_zigzag(value: int) -> None:
    data = varlong(value)
    assert read_varlong(b"." + data + b".", 1) == (value, 1 + len(data))
    assert read_signed_varlong(data, 0) == (value, len(data))


@pytest.mark.parametrize("reader", [read_uvarint, read_varlong])
def test_truncated(reader: type[object]) -> None:
    for data in (b"", b"\x80", b"\x80\x80", b"\x80\x80\x80"):
        with pytest.raises(IndexError):
            reader(data, 0)  # type: ignore[call-arg]


def test_too_long() -> None:
    with pytest.raises(WireError, match="more than 5 bytes"):
        read_uvarint(b"\x80" * 5 + b"\x01", 0)
    with pytest.raises(WireError, match="does not fit 32 bits"):
        read_uvarint(b"\xff" * 4 + b"\x1f", 0)
    with pytest.raises(WireError, match="more than 10 bytes"):
        read_varlong(b"\x80" * 10 + b"\x01", 0)
    with pytest.raises(WireError, match="does not fit 64 bits"):
        read_varlong(b"\xff" * 9 + b"\x02", 0)
    assert read_uvarint(b"\xff" * 4 + b"\x0f", 0) == ((1 << 32) - 1, 5)
    assert read_varlong(b"\xff" * 9 + b"\x01", 0) == (-(1 << 63), 10)
