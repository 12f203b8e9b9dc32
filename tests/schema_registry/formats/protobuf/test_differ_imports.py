"""Messages that stand in other files: they are compared through the fields that hold them, however they refer to each other."""

from __future__ import annotations

import pytest

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.comparison import DEPTH_MAX_MESSAGES, REPETITION_MAX_MEMBERS
from schema_registry.formats.protobuf.differ import changes
from schema_registry.formats.protobuf.schema import ProtobufSchema
from schema_registry.formats.protobuf.type_table import FULL_NAME_MAX_CHARACTERS

ORDER = 'syntax = "proto3"; import "money.proto"; message Order { acme.Money price = 1; }'


def file(body: str, package: str = "acme") -> str:
    return f'syntax = "proto3"; package {package}; {body}'


def found(reader: ProtobufSchema, writer: ProtobufSchema) -> list[str]:
    return [f"{change.rule.name} {change.path}" for change in changes(reader, writer)]


def order(money: str, **more: str) -> ProtobufSchema:
    return ProtobufSchema.parse(ORDER, {**more, "money.proto": money})


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        ("message Money { int64 units = 1; }", "message Money { int32 units = 1; }", []),
        ("message Money { int64 units = 1; }", "message Money {}", ["FIELD_REMOVED #/Money/1"]),
        (
            "message Money { int64 units = 1; }",
            "message Money { string units = 1; }",
            ["FIELD_SCALAR_KIND_CHANGED #/Money/1", "FIELD_NAMED_TYPE_CHANGED #/Order/1"],
        ),
        (
            "message Money { Currency in = 1; message Currency {} }",
            "message Money { Currency in = 1; message Currency { int32 a = 1; } }",
            ["FIELD_ADDED #/Money/Currency/1", "FIELD_ADDED #/Money/Currency/1"],
        ),
        ("message Money {} message Coin {}", "message Money {}", []),
        ("message Money {}", "enum Money { X = 0; }", ["FIELD_KIND_CHANGED #/Order/1"]),
    ],
    ids=["same encoding", "field less", "another type", "found twice", "unused message", "enum"],
)
def test_an_import_is_compared_where_a_field_leads_to_it(writer: str, reader: str, expected: list[str]) -> None:
    assert found(order(file(reader)), order(file(writer))) == expected


def test_an_import_may_change_its_package() -> None:
    money = "message Money { message Part { %s n = 1; } Part part = 1; }"
    text = 'syntax = "proto3"; import "money.proto"; message Order { .%s.Money.Part price = 1; }'
    writer = ProtobufSchema.parse(text % "acme.v1", {"money.proto": file(money % "int32", "acme.v1")})
    same = ProtobufSchema.parse(text % "acme.v2", {"money.proto": file(money % "int64", "acme.v2")})
    other = ProtobufSchema.parse(text % "acme.v2", {"money.proto": file(money % "float", "acme.v2")})

    assert found(same, writer) == []
    assert found(other, writer) == ["FIELD_SCALAR_KIND_CHANGED #/Money/Part/1", "FIELD_NAMED_TYPE_CHANGED #/Order/1"]


def test_a_message_may_move_out_of_an_import_but_not_into_one() -> None:
    own = ProtobufSchema.parse(
        'syntax = "proto3"; message Order { Money price = 1; } message Money { int64 units = 1; }'
    )
    imported = order(file("message Money { int64 units = 1; }"))

    assert found(own, imported) == ["MESSAGE_ADDED #/Money"]
    assert found(imported, own) == ["MESSAGE_REMOVED #/Money"]


def test_what_an_import_imports_is_compared_too() -> None:
    money = file('import "coin.proto"; message Money { Coin coin = 1; }')
    coins = [file(f"message Coin {{ {scalar} size = 1; }}") for scalar in ("int32", "double")]
    writer, reader = (order(money, **{"coin.proto": coin}) for coin in coins)

    assert found(reader, writer) == [
        "FIELD_SCALAR_KIND_CHANGED #/Coin/1",
        "FIELD_NAMED_TYPE_CHANGED #/Money/1",
        "FIELD_NAMED_TYPE_CHANGED #/Order/1",
    ]


def test_a_well_known_type_has_two_names() -> None:
    text = 'syntax = "proto3"; import "google/protobuf/timestamp.proto"; message Order { %sgoogle.protobuf.%s at = 1; }'
    writer = ProtobufSchema.parse(text % ("", "Timestamp"))

    assert found(ProtobufSchema.parse(text % (".", "Timestamp")), writer) == []
    assert found(ProtobufSchema.parse(text % ("", "Duration")), writer) == ["FIELD_NAMED_TYPE_CHANGED #/Order/1"]


def test_messages_that_hold_each_other_end() -> None:
    money = "message Money { Coin coin = 1; } message Coin { Money of = 1; %s size = 2; }"

    assert found(order(file(money % "double")), order(file(money % "int32"))) == [
        "FIELD_SCALAR_KIND_CHANGED #/Coin/2",
        "FIELD_NAMED_TYPE_CHANGED #/Money/1",
        "FIELD_NAMED_TYPE_CHANGED #/Order/1",
    ]


def test_a_difference_deeper_than_the_walk_is_found() -> None:
    links = "".join(f"message L{n} {{ L{n + 1} next = 1; }} " for n in range(5 * DEPTH_MAX_MESSAGES))
    chain = f"message Money {{ L0 next = 1; }} {links} message L{5 * DEPTH_MAX_MESSAGES} {{ %s size = 1; }}"
    reader, writer = order(file(chain % "string")), order(file(chain % "int32"))

    rules = [difference.rule for difference in reader.differences(writer)]

    assert "FIELD_SCALAR_KIND_CHANGED" in rules
    assert order(file(chain % "int64")).differences(writer) == []


def test_messages_that_all_hold_each_other_are_compared_in_bounded_time() -> None:
    size = 40
    fields = " ".join(f"M{n} m{n} = {n + 1};" for n in range(size))
    web = "message Money { M0 first = 1; } " + " ".join(f"message M{n} {{ {fields} %s }}" for n in range(size))
    changed = web % (("int32 x = 100;",) * (size - 1) + ("string x = 100;",))
    writer = order(file(web % (("int32 x = 100;",) * size)))

    differences = order(file(changed)).differences(writer)

    assert f"#/M{size - 1}/100" in {difference.path for difference in differences}
    assert len(differences) < REPETITION_MAX_MEMBERS
    assert order(file(web % (("int64 x = 100;",) * size))).differences(writer) == []


def test_a_name_that_would_take_too_long_to_look_up_is_refused() -> None:
    package = "a." * FULL_NAME_MAX_CHARACTERS + "a"
    schema = ProtobufSchema.parse(file("message Money { Money more = 1; }", package))

    with pytest.raises(InvalidSchema, match="has 2007 characters; up to 1000 are understood"):
        schema.differences(schema)
