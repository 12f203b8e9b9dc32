"""Protobuf's JSON mapping, compiled, beside the library's own: the same bytes, the same JSON, the same refusals."""

from __future__ import annotations

import base64
import math
from typing import Any

import pytest
from google.protobuf import (
    json_format,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from barnabas.kernel.serdes.protobuf import ProtobufCodec
from barnabas.kernel.serdes.protobuf_mapping import MessageMapping, UnusualError
from barnabas.kernel.serdes.serdes_error import SerdesError, ValueMismatchError

OPTIONAL, REPEATED = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
KINDS = ("DOUBLE", "FLOAT", "INT64", "UINT64", "INT32", "BOOL", "STRING", "BYTES", "UINT32", "SINT64", "SFIXED32")


def add_field(message: Any, name: str, kind: str, label: int = OPTIONAL, **more: Any) -> None:
    number = len(message.field) + 1
    kind_number = FieldDescriptorProto.Type.Value(f"TYPE_{kind}")
    message.field.add(name=name, number=number, type=kind_number, label=label, **more)


def every_kind() -> FileDescriptorProto:
    """Message All: each kind alone and repeated, a map, an enum, a oneof, what is optional, and itself, once and repeated."""
    file = FileDescriptorProto(name="all.proto", syntax="proto3")
    file.dependency.extend([f"google/protobuf/{name}.proto" for name in ("timestamp", "struct", "wrappers")])
    colour = file.enum_type.add(name="Colour")
    for name, number in (("RED", 0), ("GREEN", 5)):
        colour.value.add(name=name, number=number)
    message = file.message_type.add(name="All")
    for kind in KINDS:
        add_field(message, f"{kind.lower()}_one", kind)
        add_field(message, f"{kind.lower()}_many", kind, REPEATED)
    message.oneof_decl.add(name="choice")
    add_field(message, "choice_text", "STRING", oneof_index=0)
    add_field(message, "choice_number", "INT64", oneof_index=0)
    message.oneof_decl.add(name="_maybe")
    add_field(message, "maybe", "INT32", oneof_index=1, proto3_optional=True)
    add_field(message, "self_one", "MESSAGE", type_name=".All")
    add_field(message, "self_many", "MESSAGE", REPEATED, type_name=".All")
    add_field(message, "colour_one", "ENUM", type_name=".Colour")
    for name in ("Timestamp", "Value", "Int64Value"):
        add_field(message, f"well_known_{name.lower()}", "MESSAGE", type_name=f".google.protobuf.{name}")
    add_field(message, "number_map", "MESSAGE", REPEATED, type_name=".All.NumberMapEntry")
    entry = message.nested_type.add(name="NumberMapEntry")
    entry.options.map_entry = True
    add_field(entry, "key", "STRING")
    add_field(entry, "value", "INT64")
    return file


FILE = every_kind()
POOL = DescriptorPool()
for module in (timestamp_pb2, struct_pb2, wrappers_pb2):
    POOL.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
POOL.Add(FILE)
ALL: Any = message_factory.GetMessageClass(POOL.FindMessageTypeByName("All"))
CODEC = ProtobufCodec(base64.b64encode(FILE.SerializeToString()).decode())
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ANYTHING = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(1 << 65), 1 << 65), st.floats(), TEXTS, st.just([]), st.just({})),
    st.sampled_from(["GREEN", "PINK", "NaN", "-Infinity", "1e3", "5", "-5", "05", "²", "_-8=", "AA==", "AA"]),
)
FITTING = {
    **dict.fromkeys(("double", "float"), st.floats(width=32) | st.integers(-9, 9)),
    **dict.fromkeys(("int64", "uint64", "uint32"), st.integers(0, (1 << 32) - 1) | st.integers(0, 9).map(str)),
    **dict.fromkeys(("int32", "sint64", "sfixed32"), st.integers(-9, 9)),
    "bool": st.booleans(),
    "string": TEXTS,
    "bytes": st.binary(max_size=5).map(lambda data: base64.b64encode(data).decode()),
}


def one_object(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Most values fit; some are written in a rarer way, or do not fit at all."""
    fields: dict[str, st.SearchStrategy[Any]] = {f"{kind}One": fitting for kind, fitting in FITTING.items()}
    fields |= {f"{kind}_many": st.lists(fitting, max_size=2) for kind, fitting in FITTING.items()}
    fields |= {"choiceText": TEXTS, "choice_number": st.integers(0, 9), "maybe": st.integers(0, 9)}
    fields |= {
        "selfOne": inner,
        "self_many": st.lists(inner, max_size=2),
        "colourOne": st.sampled_from(["RED", "GREEN"]),
    }
    fields |= {"wellKnownTimestamp": st.sampled_from(["2026-01-31T12:00:00Z", "yesterday"])}
    fields |= {"wellKnownValue": ANYTHING, "wellKnownInt64value": st.integers(0, 9).map(str)}
    fields |= {"numberMap": st.dictionaries(TEXTS, st.integers(0, 9), max_size=2)}
    names = st.lists(st.sampled_from(sorted(fields)), max_size=5, unique=True)
    usual = names.flatmap(lambda found: st.fixed_dictionaries({name: fields[name] for name in found}))
    # Of bytes the library is too easy-going.
    others = [name for name in (*fields, "unknown") if not name.startswith("bytes")]
    odd = st.dictionaries(st.sampled_from(others), ANYTHING, max_size=1)
    return st.builds(lambda one, other: {**one, **other}, usual, odd | st.just({}))


VALUES = st.recursive(one_object(st.just({})), one_object, max_leaves=3)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
@example({"wellKnownValue": math.nan})
def test_it_writes_reads_and_refuses_as_the_library_does(value: dict[str, Any]) -> None:
    try:
        expected: Any = json_format.ParseDict(value, ALL())
    except json_format.ParseError:
        with pytest.raises(ValueMismatchError):
            CODEC.encode(value)
        return
    data = CODEC.encode(value)
    # The order of a map's entries is left open, unless one asks.
    assert ALL.FromString(data).SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)
    try:
        shown = json_format.MessageToDict(expected, always_print_fields_with_no_presence=True)
    except json_format.SerializeToJsonError:
        # JSON has no such number, and a text would be read back as one: the library refuses a Value of it.
        with pytest.raises(SerdesError):
            CODEC.decode(b"\x00" + data)
        return
    assert CODEC.decode(b"\x00" + data) == shown
    # In the order of the fields' numbers, as Java has it.
    numbers = {field.json_name: field.number for field in ALL.DESCRIPTOR.fields}
    order = [numbers[name] for name in CODEC.decode(b"\x00" + data)]
    assert order == sorted(order)


@pytest.mark.parametrize("given", ["-_-_eHg=", "+/+/eHg=", "-_-_eHg", "+/+/eHg"])
def test_bytes_may_be_of_either_alphabet_and_without_padding(given: str) -> None:
    assert ALL.FromString(CODEC.encode({"bytesOne": given})).bytes_one == b"\xfb\xff\xbfxx"


@pytest.mark.parametrize("given", ["!!", "eHg=!", "e", "ä", "e\nHg="])
def test_bytes_that_are_no_base64_are_refused(given: str) -> None:
    with pytest.raises(ValueMismatchError, match="is not base64"):
        CODEC.encode({"bytesMany": ["", given]})


def test_what_usually_comes_does_not_need_the_library() -> None:
    mapping = MessageMapping(ALL.DESCRIPTOR, POOL, keeps_names=True)
    value = {"stringOne": "x", "int64_one": "5", "selfMany": [{"boolOne": True}], "numberMap": {"k": 1}}
    arguments = mapping.arguments(value)
    assert arguments == {"string_one": "x", "int64_one": 5, "self_many": [{"bool_one": True}], "number_map": {"k": 1}}
    assert mapping.to_json(ALL(**arguments))["self_many"][0]["bool_one"] is True
    with pytest.raises(UnusualError):
        mapping.arguments({"choiceText": "x", "choiceNumber": 1})
