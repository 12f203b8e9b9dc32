"""Frames in front of the bytes and in headers, and the numbers of Protobuf's messages."""

from __future__ import annotations

import uuid

import pytest

from barnabas.kernel.serdes import framing
from barnabas.kernel.serdes.framing import Frame, read_frame, read_message_indexes, write_message_indexes
from barnabas.kernel.serdes.serdes_error import SerdesError

GUID = uuid.UUID("89791762-2336-4186-9674-299b90a802e2")
ID_FRAME = b"\x00\x00\x00\x01\x02"
GUID_FRAME = b"\x01" + GUID.bytes
OTHER_FRAME = b"\x00\x00\x00\x00\x09"


def test_frames_have_the_bytes_of_confluents() -> None:
    assert framing.id_prefix(258) == ID_FRAME
    assert framing.guid_prefix(GUID) == GUID_FRAME
    assert (framing.header_name(is_key=True), framing.header_name(is_key=False)) == (
        "__key_schema_id",
        "__value_schema_id",
    )


@pytest.mark.parametrize(
    ("data", "headers", "is_key", "frame"),
    [
        (ID_FRAME + b"rest", (), False, Frame(258, b"rest")),
        (ID_FRAME, (), True, Frame(258, b"")),
        (GUID_FRAME + b"rest", (), False, Frame(GUID, b"rest")),
        (b"rest", (("__value_schema_id", GUID_FRAME),), False, Frame(GUID, b"rest")),
        (b"rest", (("__value_schema_id", GUID_FRAME + b"\x02\x04"),), False, Frame(GUID, b"\x02\x04rest")),
        (b"rest", (("__value_schema_id", ID_FRAME),), False, Frame(258, b"rest")),
        (b"rest", (("__key_schema_id", GUID_FRAME),), True, Frame(GUID, b"rest")),
        # The header counts before what stands in front, and only that of the part which is read.
        (OTHER_FRAME, (("__value_schema_id", ID_FRAME),), False, Frame(258, OTHER_FRAME)),
        (OTHER_FRAME, (("__key_schema_id", ID_FRAME),), False, Frame(9, b"")),
        (OTHER_FRAME, (("__value_schema_id", b"nonsense"), ("__value_schema_id", None)), False, Frame(9, b"")),
        (b"", (), False, None),
        (b"\x00\x00\x00\x01", (), False, None),
        (b"\x01" + GUID.bytes[:15], (), False, None),
        (b"\x02\x00\x00\x00\x01", (), False, None),
        (b"\x00\xff\xff\xff\xff", (), False, None),
        (b"text", (), False, None),
    ],
)
def test_a_frame_is_found_where_it_is(
    data: bytes, headers: tuple[tuple[str, bytes | None], ...], is_key: bool, frame: Frame | None
) -> None:
    assert read_frame(data, headers, is_key=is_key) == frame


@pytest.mark.parametrize(
    ("indexes", "data"),
    [
        ((0,), b"\x00"),
        ((1,), b"\x02\x02"),
        ((1, 0), b"\x04\x02\x00"),
        ((3, 2, 200), b"\x06\x06\x04\x90\x03"),
    ],
)
def test_the_numbers_of_a_message(indexes: tuple[int, ...], data: bytes) -> None:
    assert write_message_indexes(indexes) == data
    assert read_message_indexes(data + b"payload") == (indexes, len(data))


@pytest.mark.parametrize(
    "data",
    [b"", b"\x02", b"\x04\x02", b"\x80", b"\x80\x80\x80\x80\x80\x01", b"\x01", b"\xfe\xff\xff\x0f" + b"\x00" * 200],
)
def test_numbers_that_are_none_are_refused(data: bytes) -> None:
    with pytest.raises(SerdesError, match="the frame"):
        read_message_indexes(data)
