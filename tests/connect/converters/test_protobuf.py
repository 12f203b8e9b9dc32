"""The text of Protobuf files beside Confluent's, and what cannot be said in them; bytes need a registry and stand with it."""

from dataclasses import replace
from typing import Any

import pytest

from connect.converters.protobuf_description import ProtobufDescription
from connect.converters.protobuf_names import ProtobufOptions
from connect.converters.protobuf_values import ProtobufWriting
from connect.data.schema import INT32, INT64, STRING, TIMESTAMP_SCHEMA, Field, Schema, Type, array_of, map_of, struct
from connect.errors import DataError
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded

PREFIX = "io.confluent.connect.protobuf"


def text(schema: Schema, options: ProtobufOptions | None = None) -> str:
    return ProtobufDescription(options or ProtobufOptions()).text(schema)


@pytest.mark.parametrize(("case", "java"), [each for each in recorded("protobuf") if "schema" in each[1]])
def test_writes_what_java_writes(case: str, java: dict[str, Any]) -> None:
    # The order inside of an option is not always the same in Java.
    expected = java["schema"].replace('value: "2",\n        key: "scale"', 'key: "scale",\n        value: "2"')
    assert text(CASES[case].schema) == expected


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (ProtobufOptions(), "  int64 a = 1;"),
        (ProtobufOptions(optional_for_nullables=True), "  optional int64 a = 1;"),
        (ProtobufOptions(wrapper_for_nullables=True), "  google.protobuf.Int64Value a = 1;"),
    ],
)
def test_fields_that_may_be_null(options: ProtobufOptions, line: str) -> None:
    assert line in text(struct(("a", INT64.as_optional())), options).splitlines()


def test_unions_enums_numbers_and_tags() -> None:
    union = Schema(
        Type.STRUCT,
        optional=True,
        name=f"{PREFIX}.Union.choice",
        fields=(
            Field("a", replace(STRING.as_optional(), parameters=((f"{PREFIX}.Tag", "5"),))),
            Field("b", replace(INT64.as_optional(), parameters=((f"{PREFIX}.Type", "uint32"), (f"{PREFIX}.Tag", "6")))),
        ),
    )
    colour = replace(STRING, name="Colour", parameters=((f"{PREFIX}.Enum", "Colour"), (f"{PREFIX}.Enum.RED", "0")))
    lines = text(struct(("choice_0", union), ("colour", colour), name="R")).splitlines()
    assert "  oneof choice {" in lines
    assert "    string a = 5;" in lines
    assert "    uint32 b = 6;" in lines
    assert "  Colour colour = 3;" in lines
    assert "    RED = 0;" in lines


def test_names_that_protobuf_does_not_take_are_replaced_on_demand() -> None:
    schema = struct(("a-b", INT32), ("_c", INT32))
    with pytest.raises(DataError, match="'a-b' is no name in Protobuf"):
        text(schema)
    lines = text(schema, ProtobufOptions(scrubs_names=True)).splitlines()
    assert "  int32 a_b = 1;" in lines
    assert "  int32 x_c = 2;" in lines


@pytest.mark.parametrize(
    "schema",
    [
        array_of(STRING),
        TIMESTAMP_SCHEMA,
        struct(("a", array_of(array_of(STRING)))),
        struct(("a", array_of(map_of(STRING, STRING)))),
        struct(("a", map_of(STRING, array_of(STRING)))),
    ],
)
def test_schemas_that_protobuf_cannot_say(schema: Schema) -> None:
    with pytest.raises(DataError):
        text(schema)


def test_arrays_hold_no_null() -> None:
    convert = ProtobufWriting(ProtobufOptions(), replaces_null=True).compile(
        struct(("a", array_of(STRING.as_optional())))
    )
    with pytest.raises(DataError, match=r"^a\[1\]: null inside an array"):
        convert({"a": ["x", None]})
