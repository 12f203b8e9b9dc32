"""The converters that use a registry, with a real one: frames, subjects, ids, credentials, and a registry that is away."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import pytest

from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from connect.api.settings import read
from connect.converters.avro import AvroConverter, AvroConverterSettings
from connect.converters.json_schema import JsonSchemaConverter
from connect.converters.protobuf import ProtobufConverter
from connect.converters.registered import RegisteredConverter
from connect.data.schema import DATE, DECIMAL, INT32, INT64, STRING, TIME, TIMESTAMP, Schema, Type, struct
from connect.errors import DataError, InvalidSettings, Retry
from tests.connect.converters.cases import CASES
from tests.connect.converters.recorded import recorded
from tests.ports import free_port

FORMATS: Mapping[str, type[RegisteredConverter]] = {
    "avro": AvroConverter,
    "json_schema": JsonSchemaConverter,
    "protobuf": ProtobufConverter,
}
_FIELDS = (("x", INT32), ("y", INT32.as_optional()))
POINT = struct(*_FIELDS, name="geo.Point")
FRAME_BYTES = 5


def types_of(schema: Schema | None) -> list[tuple[Type, str | None]]:
    """What stays of fields in Protobuf: their types, and which of them are decimals, dates and times."""
    assert schema is not None
    logical = {DECIMAL, DATE, TIME, TIMESTAMP}
    return [(each.schema.type, each.schema.name if each.schema.name in logical else "") for each in schema.fields]


class Make(Protocol):
    """Makes a converter of a format. Underscores in the names of settings stand for dots."""

    def __call__(self, form: str, *, is_key: bool = False, **settings: str) -> RegisteredConverter: ...


def converters(url: str) -> Iterator[Make]:
    started: list[RegisteredConverter] = []

    def make(form: str, *, is_key: bool = False, **settings: str) -> RegisteredConverter:
        found = FORMATS[form]
        named = {"schema.registry.url": url} | {name.replace("_", "."): value for name, value in settings.items()}
        started.append(found(read(found.settings_type, named), is_key=is_key))
        return started[-1]

    yield make
    for each in started:
        each.close()


@pytest.fixture
def made(registry_url: str) -> Iterator[Make]:
    yield from converters(registry_url)


@pytest.fixture
def made_far() -> Iterator[Make]:
    """Converters of a registry that does not answer."""
    yield from converters(f"http://127.0.0.1:{free_port()}")


@pytest.fixture
def client(registry_url: str) -> Iterator[RegistryClient]:
    with RegistryClient(registry_url) as found:
        yield found


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_there_and_back(form: str, case: str, topic: str, made: Make) -> None:
    schema, value = CASES[case]
    both = made(form)
    data = both.encode_all(topic, schema, [value, value])
    found = both.decode_all(topic, data)
    assert found[1] == found[0]
    if form == "protobuf":
        assert types_of(found[0].schema) == types_of(schema)
    else:
        assert found[0].schema == schema
    again = both.encode_all(f"{topic}-again", found[0].schema, [found[1].value])
    assert again[0] is not None
    assert both.decode(f"{topic}-again", again[0]).value == found[0].value


@pytest.mark.parametrize(
    ("form", "changed", "advice"),
    [
        (
            "json_schema",
            struct(*_FIELDS, ("z", INT32.as_optional()), name="geo.Point"),
            "key.converter.object.additional",
        ),
        ("avro", struct(*_FIELDS, ("z", INT32), name="geo.Point"), "compatibility of the subject"),
    ],
)
def test_what_to_do_stands_before_the_details_of_a_change_that_is_refused(
    form: str, changed: Schema, advice: str, topic: str, made: Make, client: RegistryClient
) -> None:
    both = made(form, is_key=True)
    both.encode(topic, POINT, {"x": 1, "y": 2})
    with pytest.raises(DataError) as raised:
        both.encode(topic, changed, {"x": 1, "y": 2, "z": 3})
    cause, _, details = str(raised.value).partition("Details: ")
    assert f'incompatible with an earlier schema for subject "{topic}-key"' in cause
    assert f"PUT /config/{topic}-key" in cause
    assert advice in cause
    assert "oldSchemaVersion: 1" in details


def test_a_json_schema_that_is_closed_takes_more_fields(topic: str, made: Make) -> None:
    both = made("json_schema", object_additional_properties="false")
    both.encode(topic, POINT, {"x": 1, "y": 2})
    more = struct(*_FIELDS, ("z", INT32.as_optional()), name="geo.Point")
    data = both.encode(topic, more, {"x": 1, "y": 2, "z": 3})
    assert both.decode(topic, data).value == {"x": 1, "y": 2, "z": 3}


@pytest.mark.parametrize(("case", "java"), recorded("protobuf"))
def test_protobuf_is_what_java_writes(case: str, java: dict[str, Any], topic: str, made: Make) -> None:
    data = made("protobuf").encode(topic, *CASES[case])
    assert data is not None
    # Behind the frame stands which message of the file it is.
    assert data[FRAME_BYTES:].hex() == "00" + java["data"]


def test_protobuf_keeps_null_when_told_so(topic: str, made: Make) -> None:
    values = [{"x": 0, "y": None}, {"x": 0, "y": 0}]
    for number, both in enumerate(
        (made("protobuf", optional_for_nullables="true"), made("protobuf", wrapper_for_nullables="true"))
    ):
        data = both.encode_all(f"{topic}-{number}", POINT, values)
        assert [each.value for each in both.decode_all(topic, data)] == values


def test_protobuf_of_others(topic: str, made: Make, client: RegistryClient) -> None:
    text = """
        syntax = "proto3";
        message Outer {
          message Inner { map<int32, bool> flags = 1; }
          oneof choice { string name = 1; uint64 number = 2; }
          Inner inner = 3;
          Colour colour = 4;
          enum Colour { RED = 0; GREEN = 1; }
        }
    """
    schema_id = client.register(f"{topic}-value", SchemaText(text, PROTOBUF))
    body = bytes((0x10, 7, 0x1A, 6, 0x0A, 4, 8, 5, 16, 1, 0x20, 1))
    found = made("protobuf").decode(topic, b"\x00" + schema_id.to_bytes(4, "big") + b"\x00" + body)
    assert found.value == {"choice_0": {"number": 7}, "inner": {"flags": {5: True}}, "colour": "GREEN"}
    assert found.schema is not None
    assert [each.name for each in found.schema.fields] == ["choice_0", "inner", "colour"]


@pytest.mark.parametrize("form", FORMATS)
def test_tombstones_need_no_registry(form: str, made_far: Make) -> None:
    away = made_far(form)
    assert away.encode_all("t", None, [None, None]) == [None, None]
    assert away.encode("t", POINT.as_optional(), None) is None
    assert away.decode("t", None) == (None, None)


@pytest.mark.parametrize("form", FORMATS)
def test_a_registry_that_is_away_is_tried_again(form: str, made_far: Make) -> None:
    away = made_far(form)
    with pytest.raises(Retry, match="cannot reach the schema registry"):
        away.encode("t", POINT, {"x": 1})
    with pytest.raises(Retry, match="cannot reach the schema registry"):
        away.decode("t", b"\x00\x00\x00\x00\x01\x00")


def test_avro_without_schema(topic: str, made: Make) -> None:
    both = made("avro")
    value = {"a": [1, None, {"b": b"\xff"}], "c": 1.5}
    assert both.decode(topic, both.encode(topic, None, value)) == (None, value)


@pytest.mark.parametrize("form", ["json_schema", "protobuf"])
def test_formats_that_need_a_schema(form: str, topic: str, made: Make) -> None:
    with pytest.raises(DataError, match="needs a schema"):
        made(form).encode(topic, None, {"a": 1})


@pytest.mark.parametrize(
    ("strategy", "is_key", "subject"),
    [
        ("TopicNameStrategy", False, "{topic}-value"),
        ("TopicNameStrategy", True, "{topic}-key"),
        ("io.confluent.kafka.serializers.subject.TopicRecordNameStrategy", False, "{topic}-geo.Point"),
    ],
)
def test_subjects(strategy: str, is_key: bool, subject: str, topic: str, made: Make, client: RegistryClient) -> None:
    which = "key_subject_name_strategy" if is_key else "value_subject_name_strategy"
    made("avro", is_key=is_key, **{which: strategy}).encode(topic, POINT, {"x": 1})
    assert client.versions(subject.format(topic=topic)) == [1]


def test_schemas_are_registered_only_if_allowed(topic: str, made: Make) -> None:
    closed = made("avro", auto_register_schemas="false")
    with pytest.raises(DataError, match="not found"):
        closed.encode(topic, POINT, {"x": 1})
    written = made("avro").encode(topic, POINT, {"x": 1})
    assert closed.encode(topic, POINT, {"x": 1}) == written


def test_the_latest_schema_of_the_subject_counts_if_asked_for(topic: str, made: Make, client: RegistryClient) -> None:
    newer = '{"type":"record","name":"Point","namespace":"geo","fields":[{"name":"x","type":"long"},{"name":"z","type":"int","default":9}]}'
    schema_id = client.register(f"{topic}-value", SchemaText(newer, AVRO))
    latest = made("avro", auto_register_schemas="false", use_latest_version="true")
    by_id = made("avro", auto_register_schemas="false", use_schema_id=str(schema_id))
    for each in (latest, by_id):
        data = each.encode(topic, struct(("x", INT64), name="geo.Point"), {"x": 5})
        assert data == b"\x00" + schema_id.to_bytes(4, "big") + b"\x0a\x12"


def test_a_schema_that_the_subject_refuses(topic: str, made: Make) -> None:
    both = made("avro")
    both.encode(topic, POINT, {"x": 1})
    with pytest.raises(DataError, match="the schema registry refuses"):
        both.encode(topic, struct(("x", STRING), name="geo.Point"), {"x": "a"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"plain", "does not begin with the number of a schema: 70 6c 61 69 6e"),
        (b"\x00\x7f\xff\xff\xff\x00", "the schema registry refuses"),
    ],
)
def test_bytes_that_are_refused(data: bytes, said: str, made: Make) -> None:
    with pytest.raises(DataError, match=said):
        made("avro").decode("t", data)


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        ("avro", SchemaText('{"type":"int","connect.name":5}', AVRO)),
        ("json_schema", SchemaText('{"type":"integer","connect.parameters":"none"}', JSON)),
    ],
)
def test_schemas_of_others_that_connect_cannot_read(
    form: str, schema: SchemaText, topic: str, made: Make, client: RegistryClient
) -> None:
    schema_id = client.register(f"{topic}-value", schema)
    with pytest.raises(DataError, match=f"the schema {schema_id} cannot be read by Connect"):
        made(form).decode(topic, b"\x00" + schema_id.to_bytes(4, "big") + b"5")


def test_bytes_of_another_format(topic: str, made: Make) -> None:
    data = made("avro").encode(topic, POINT, {"x": 1})
    with pytest.raises(DataError, match="is of the type AVRO: use another converter"):
        made("json_schema").decode(topic, data)


@pytest.mark.parametrize("form", FORMATS)
def test_values_that_are_refused(form: str, topic: str, made: Make) -> None:
    both = made(form)
    with pytest.raises(DataError, match="null cannot be written"):
        both.encode(topic, POINT, None)
    with pytest.raises(DataError, match="x: 'far'"):
        both.encode(topic, POINT, {"x": "far"})
    with pytest.raises(DataError, match="no field z"):
        both.encode(topic, POINT, {"x": 1, "z": 2})


def test_nulls_become_defaults_unless_told_otherwise(topic: str, made: Make) -> None:
    schema = struct(("a", replace(INT32.as_optional(), default=7)))
    for ignores, expected in (("false", 7), ("true", None)):
        both = made("avro", ignore_default_for_nullables=ignores)
        assert both.decode(topic, both.encode(topic, schema, {"a": None})).value == {"a": expected}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "schema.registry.url"),
        ({"schema.registry.url": "somewhere"}, "no address of a registry"),
        ({"value.subject.name.strategy": "MyStrategy"}, "MyStrategy is no way to name subjects"),
        ({"basic.auth.credentials.source": "USER_INFO"}, "basic.auth.user.info"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, str], said: str) -> None:
    given = (
        settings
        if not settings or "schema.registry.url" in settings
        else {"schema.registry.url": "http://h:1", **settings}
    )
    with pytest.raises(InvalidSettings, match=said):
        read(AvroConverter.settings_type, given)


@pytest.mark.parametrize(
    ("settings", "credentials"),
    [
        ({"basic.auth.user.info": "me:secret"}, None),
        ({"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "me:secret"}, "me:secret"),
        ({"basic.auth.credentials.source": "USER_INFO", "schema.registry.basic.auth.user.info": "i:s"}, "i:s"),
    ],
)
def test_credentials(settings: dict[str, str], credentials: str | None) -> None:
    found = read(AvroConverterSettings, {"schema.registry.url": "http://h:1", **settings})
    assert found.credentials == credentials
