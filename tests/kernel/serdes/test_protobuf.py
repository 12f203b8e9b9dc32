"""Protobuf data from serialized files, with imports, nested messages and well-known types."""

from __future__ import annotations

import base64
import sys
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from barnabas.kernel.serdes.protobuf import ProtobufCodec
from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError

TYPES = FieldDescriptorProto.Type


def add_field(message: Any, number: int, name: str, kind: str, **more: Any) -> None:
    added = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL, **more)
    if "type_name" in more:
        added.type = FieldDescriptorProto.TYPE_MESSAGE
    else:
        added.type = TYPES.Value(f"TYPE_{kind}")


def text_of(file: FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


def sample() -> str:
    """Messages First and Second with Second.Inner; Second uses other.Shared, a Timestamp and Confluent's decimal."""
    file = FileDescriptorProto(syntax="proto3", package="p")
    file.dependency.extend(
        ["other.proto", "google/protobuf/timestamp.proto", "confluent/meta.proto", "confluent/type/decimal.proto"]
    )
    add_field(file.message_type.add(name="First"), 1, "snake_name", "INT64")
    second = file.message_type.add(name="Second")
    inner: DescriptorProto = second.nested_type.add(name="Inner")
    add_field(inner, 1, "flag", "BOOL")
    add_field(second, 1, "shared", "", type_name=".other.Shared")
    add_field(second, 2, "at", "", type_name=".google.protobuf.Timestamp")
    add_field(second, 3, "price", "", type_name=".confluent.type.Decimal")
    return text_of(file)


def other() -> str:
    file = FileDescriptorProto(syntax="proto3", package="other", name="named_otherwise.proto")
    add_field(file.message_type.add(name="Shared"), 1, "text", "STRING")
    return text_of(file)


def codec(**options: Any) -> ProtobufCodec:
    return ProtobufCodec(sample(), {"other.proto": other()}, **options)


SECOND = {"shared": {"text": "x"}, "at": "2026-01-31T12:00:00Z", "price": {"value": "AQ==", "precision": 3, "scale": 2}}


@pytest.mark.parametrize(
    ("message", "value", "preamble"),
    [
        (None, {"snakeName": "5"}, b"\x00"),
        ("p.First", {"snakeName": "5"}, b"\x00"),
        ("p.Second", SECOND, b"\x02\x02"),
        ("p.Second.Inner", {"flag": True}, b"\x04\x02\x00"),
    ],
)
def test_a_message_there_and_back(message: str | None, value: object, preamble: bytes) -> None:
    writer = codec(message=message)
    assert writer.preamble == preamble
    # Whoever reads need not be told the message: the preamble says it.
    assert codec().decode(preamble + writer.encode(value)) == value


def test_fields_that_are_not_set_are_shown_and_names_may_stay() -> None:
    assert codec().encode({"snake_name": 5}) == codec().encode({"snakeName": "5"}) == b"\x08\x05"
    assert codec().decode(b"\x00") == {"snakeName": "0"}
    assert codec(keeps_names=True).decode(b"\x00\x08\x05") == {"snake_name": "5"}


@pytest.mark.parametrize("value", [{"unknown": 1}, {"snakeName": "x"}, {"snakeName": 1 << 63}, 5, [], "x", None])
def test_a_value_that_does_not_fit_is_refused(value: object) -> None:
    with pytest.raises(ValueMismatchError, match=r"not a p\.First"):
        codec().encode(value)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "the frame ends"),
        (b"\x00\x08", r"the data is not a p\.First"),
        (b"\x02\x04", r"names message \[2\]"),
        (b"\x04\x02\x02", r"names message \[1, 1\]"),
        (b"\x02\x01", r"names message \[-1\]"),
    ],
)
def test_bytes_that_are_no_such_message_are_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(SerdesError, match=complaint):
        codec().decode(data)


def test_a_schema_that_cannot_be_used_is_told() -> None:
    with pytest.raises(SerdesError, match=r"other\.proto is imported, and no reference of the schema has this name"):
        ProtobufCodec(sample())
    with pytest.raises(SerdesError, match="no serialized Protobuf file"):
        ProtobufCodec("syntax = proto3")
    with pytest.raises(SerdesError, match=r"no message 'p\.Third'; it has p\.First, p\.Second"):
        codec(message="p.Third")


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    with pytest.raises(MissingLibraryError, match=r"Protobuf data needs .*: pip install 'barnabas\[registry\]'"):
        codec()
