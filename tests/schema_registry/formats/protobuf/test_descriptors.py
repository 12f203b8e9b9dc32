"""Descriptors in, descriptors out: how clients with generated code register and read."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from google.protobuf import (
    any_pb2,
    api_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    type_pb2,
    wrappers_pb2,
)

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.meta import FileDescriptor
from schema_registry.formats.protobuf.schema import ProtobufSchema
from tests.schema_registry.formats.protobuf.language_cases import LANGUAGE_CASES, SHARED
from tests.schema_registry.formats.protobuf.odd_cases import ODD_CASES
from tests.schema_registry.formats.protobuf.option_cases import OPTION_CASES

F = descriptor_pb2.FieldDescriptorProto


def _base64(file: descriptor_pb2.FileDescriptorProto) -> str:
    return base64.b64encode(file.SerializeToString()).decode()


def _order() -> descriptor_pb2.FileDescriptorProto:
    """As a compiler makes it of a message with a map, a oneof and an optional field."""
    file = descriptor_pb2.FileDescriptorProto(
        name="order.proto",
        package="shop",
        syntax="proto3",
        dependency=["google/protobuf/timestamp.proto", "google/type/money.proto"],
        public_dependency=[1],
    )
    file.options.java_package = "com.shop"
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL, json_name="id")
    order.field.add(
        name="at", number=2, type=F.TYPE_MESSAGE, label=F.LABEL_OPTIONAL, type_name=".google.protobuf.Timestamp"
    )
    order.field.add(
        name="prices", number=3, type=F.TYPE_MESSAGE, label=F.LABEL_REPEATED, type_name=".shop.Order.PricesEntry"
    )
    order.field.add(name="cash", number=4, type=F.TYPE_BOOL, label=F.LABEL_OPTIONAL, oneof_index=0)
    order.field.add(
        name="note", number=5, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL, oneof_index=1, proto3_optional=True
    )
    order.oneof_decl.add(name="payment")
    order.oneof_decl.add(name="_note")
    entry = order.nested_type.add(name="PricesEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=F.TYPE_MESSAGE, label=F.LABEL_OPTIONAL, type_name=".google.type.Money")
    order.reserved_range.add(start=10, end=11)
    order.reserved_range.add(start=20, end=30)
    order.reserved_name.append("old")
    return file


ORDER_CANONICAL = """\
syntax = "proto3";
package shop;

import "google/protobuf/timestamp.proto";
import public "google/type/money.proto";

option java_package = "com.shop";

message Order {
  reserved 10;
  reserved 20 to 29;
  reserved "old";

  string id = 1 [json_name = "id"];
  .google.protobuf.Timestamp at = 2;
  repeated .shop.Order.PricesEntry prices = 3;
  optional string note = 5;

  oneof payment {
    bool cash = 4;
  }

  message PricesEntry {
    option map_entry = true;
␠␠
    string key = 1;
    .google.type.Money value = 2;
  }
}
"""

ORDER_NORMALISED = """\
syntax = "proto3";
package shop;

import "google/protobuf/timestamp.proto";
import public "google/type/money.proto";

option java_package = "com.shop";

message Order {
  reserved 10;
  reserved 20 to 29;
  reserved "old";

  string id = 1 [json_name = "id"];
  .google.protobuf.Timestamp at = 2;
  map<string, .google.type.Money> prices = 3;
  optional string note = 5;

  oneof payment {
    bool cash = 4;
  }
}
"""


def test_a_descriptor_becomes_text() -> None:
    schema = ProtobufSchema.parse(_base64(_order()), new=True)
    assert schema.canonical == ORDER_CANONICAL.replace("␠", " ")
    assert schema.normalised().canonical == ORDER_NORMALISED
    assert schema.name == "shop.Order"


def test_base64_may_go_without_padding() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="a", syntax="proto3")
    assert _base64(file).endswith("=")
    assert ProtobufSchema.parse(_base64(file).rstrip("=")).canonical == 'syntax = "proto3";\n'


@pytest.mark.parametrize("text", ["AAAA", "QUJD", "not base64!", "Cg", "A"])
def test_what_is_neither_text_nor_descriptor_is_refused_as_text(text: str) -> None:
    with pytest.raises(InvalidSchema, match="Could not parse Protobuf - Syntax error in :1:"):
        ProtobufSchema.parse(text)


def test_a_field_outside_all_oneofs_is_told() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="a")
    file.message_type.add(name="M").field.add(name="f", number=1, type=F.TYPE_INT32, oneof_index=3)
    with pytest.raises(InvalidSchema, match="field f of M stands in oneof 3, but the message has 0"):
        ProtobufSchema.parse(_base64(file))


def _usable(schema: ProtobufSchema, *imports: bytes) -> descriptor_pool.DescriptorPool:
    """A pool with what a client gets."""
    pool = descriptor_pool.DescriptorPool()
    for one in imports:
        pool.AddSerializedFile(one)
    pool.AddSerializedFile(base64.b64decode(schema.formatted("serialized")))
    return pool


@pytest.mark.parametrize("source", [_base64(_order()), ORDER_NORMALISED], ids=["descriptor", "text"])
def test_a_client_can_build_messages_of_the_serialised_form(source: str) -> None:
    schema = ProtobufSchema.parse(source)
    money = ProtobufSchema.parse('syntax = "proto3"; package google.type; message Money { int64 units = 2; }')
    imported = FileDescriptor.FromString(money.descriptor())
    imported.name = "google/type/money.proto"
    pool = _usable(schema, timestamp_pb2.DESCRIPTOR.serialized_pb, imported.SerializeToString())
    order: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    message = order(id="7", cash=True, note="")
    message.prices["a"].units = 3
    message.at.seconds = 5
    again = order.FromString(message.SerializeToString())
    assert (again.prices["a"].units, again.WhichOneof("payment"), again.HasField("note")) == (3, "cash", True)


def test_the_serialised_form_is_confluents() -> None:
    """Names of types stay as written, maps get entries behind all other messages, oneofs come before fields."""
    schema = ProtobufSchema.parse(
        'syntax = "proto3"; package a; message M { map<string, N> my_map = 3; N n = 1; map<int32, bool> flags = 4;'
        " optional int32 o = 5; oneof x { string s = 2; } message N {} } service S { rpc R (M) returns (.a.M); }"
    )
    made = FileDescriptor.FromString(schema.descriptor())
    message = made.message_type[0]
    assert made.name == "default"
    assert [field.name for field in message.field] == ["s", "my_map", "n", "flags", "o"]
    assert [(field.type_name, field.HasField("type")) for field in message.field][1:4] == [
        ("MyMapEntry", False),
        ("N", True),
        ("flagsEntry", False),
    ]
    assert [nested.name for nested in message.nested_type] == ["N", "MyMapEntry", "flagsEntry"]
    assert [one.name for one in message.oneof_decl] == ["x", "_o"]
    method = made.service[0].method[0]
    assert (method.input_type, method.output_type, method.HasField("client_streaming")) == ("M", ".a.M", True)


ALL_CASES = {**LANGUAGE_CASES, **OPTION_CASES, **ODD_CASES}
LOST = (
    "group",
    "weak",
    "never",
    "unknown",
    "rules)",
    "(x)",
    "(a)",
    "abs",
    "WHAT",
    "oneof o { string a",
    "features.",
    '{key: "k"}',
)
"""Marks of what descriptors do not carry, or only in another way."""
WITHOUT_LOSS = [name for name, case in ALL_CASES.items() if not any(lost in case.written for lost in LOST)]


@pytest.mark.parametrize("name", WITHOUT_LOSS)
def test_text_and_its_descriptor_have_one_normal_form(name: str) -> None:
    schema = ProtobufSchema.parse(ALL_CASES[name].written, {"shared.proto": SHARED})
    again = ProtobufSchema.parse(schema.formatted("serialized"), {"shared.proto": SHARED})
    assert again.normalised().canonical == schema.normalised().canonical


WELL_KNOWN = [any_pb2, api_pb2, duration_pb2, struct_pb2, timestamp_pb2, type_pb2, wrappers_pb2]


@pytest.mark.parametrize("module", WELL_KNOWN, ids=lambda module: str(module.__name__))
def test_compiled_files_survive(module: type) -> None:
    """Compiler, registry, text, descriptor, and back."""
    compiled = module.DESCRIPTOR.serialized_pb  # type: ignore[attr-defined]
    schema = ProtobufSchema.parse(base64.b64encode(compiled).decode(), new=True)
    from_text = ProtobufSchema.parse(schema.canonical, new=True)
    made = FileDescriptor.FromString(from_text.descriptor())
    original = FileDescriptor.FromString(compiled)
    made.name = original.name
    assert _plain(made) == _plain(original)


def _plain(file: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """Without what the registry says in another way: fields of oneofs come first, and labels are left out in proto3."""
    for message in file.message_type:
        fields = sorted(message.field, key=lambda field: field.number)
        del message.field[:]
        message.field.extend(fields)
        for field in [*message.field, *(field for nested in message.nested_type for field in nested.field)]:
            field.label = field.label
        for oneof in message.oneof_decl:
            oneof.ClearField("options")
    for service in file.service:
        for method in service.method:
            method.client_streaming, method.server_streaming = method.client_streaming, method.server_streaming
    file.syntax = file.syntax or "proto2"
    return file


def test_metadata_keeps_the_order_of_its_parameters() -> None:
    text = (
        'syntax = "proto3"; import "confluent/meta.proto"; message M { bytes d = 1 [(confluent.field_meta) = {doc: "d",'
        ' params: [{key: "z", value: "1"}, {key: "a", value: "2"}, {key: "scale", value: "3"}], tags: "T",'
        ' rules: [{name: "n", expr: "e"}]}]; }'
    )
    again = ProtobufSchema.parse(ProtobufSchema.parse(text).formatted("serialized"))
    positions = [again.canonical.index(part) for part in ('key: "z"', 'key: "a"', 'value: "3"', 'key: "scale"')]
    assert positions == sorted(positions)


def test_custom_options_of_a_descriptor_are_left_out() -> None:
    """Nobody can read them without the file that declares them; Confluent's registry drops them too."""
    file = _order()
    file.options.MergeFromString(b"\xca\xb8\x02\x01x")
    assert ProtobufSchema.parse(_base64(file)).canonical == ORDER_CANONICAL.replace("␠", " ")


def test_editions_become_proto2_text_with_features() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="a", syntax="editions", edition=descriptor_pb2.EDITION_2023)
    file.options.features.field_presence = descriptor_pb2.FeatureSet.IMPLICIT
    file.message_type.add(name="M").field.add(name="f", number=1, type=F.TYPE_INT32, label=F.LABEL_OPTIONAL)
    schema = ProtobufSchema.parse(_base64(file), new=True)
    assert schema.canonical == (
        "\noption features = {\n  field_presence: IMPLICIT\n};\n\nmessage M {\n  optional int32 f = 1;\n}\n"
    )
