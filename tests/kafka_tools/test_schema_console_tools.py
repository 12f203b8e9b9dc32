"""Confluent's console producers and consumers, each beside its sister, through a registry."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.kafka_tools.main import call
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SchemaText
from tests.ports import free_port

TIMEOUT_MS = "20000"
RECORD = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":["null","string"]}]}'
PROTO = 'syntax = "proto3"; message A { string q = 1; } message B { int64 the_count = 1; message C { bool z = 1; } }'
OBJECT = '{"type":"object","properties":{"f1":{"type":"string"}}}'
HEADER_SERIALIZER = "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"

Write = Callable[..., int]
Read = Callable[..., list[str]]


@pytest.fixture
def write(broker_address: str, registry_url: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Run the producer of a format with a text as standard input and properties of the reader."""

    def run(form: str, text: str, **properties: str) -> int:
        path = tmp_path / "input"
        path.write_text(text)
        pairs = {"schema.registry.url": registry_url, **dotted(properties)}
        words = [word for name, value in pairs.items() for word in ("--reader-property", f"{name}={value}")]
        with path.open() as file, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", file)
            at = ["--bootstrap-server", broker_address, "--topic", topic]
            return call(f"kafka-{form}-console-producer", [*at, *words])

    return run


@pytest.fixture
def read(broker_address: str, registry_url: str, topic: str, capfdbinary: pytest.CaptureFixture[bytes]) -> Read:
    """Run the consumer of a format for so many records, with properties of the formatter. Returns its lines."""

    def run(form: str, count: int, *words: str, status: int = 0, **properties: str) -> list[str]:
        pairs = {"schema.registry.url": registry_url, **dotted(properties)}
        more = [word for name, value in pairs.items() for word in ("--formatter-property", f"{name}={value}")]
        at = ["--bootstrap-server", broker_address, "--topic", topic, "--partition", "0", "--from-beginning"]
        ends = ["--max-messages", str(count), "--timeout-ms", TIMEOUT_MS]
        capfdbinary.readouterr()
        assert call(f"kafka-{form}-console-consumer", [*at, *ends, *more, *words]) == status
        out, error = capfdbinary.readouterr()
        return (out if status == 0 else error).decode().splitlines()

    return run


def dotted(properties: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in properties.items()}


def test_avro_with_keys_ids_and_nulls(write: Write, read: Read, topic: str, registry_url: str) -> None:
    lines = '"k1"\t{"f1":{"string":"ä"}}\n"k2"\t{"f1":"plain"}\nN\tN\n'
    assert write("avro", lines, value_schema=RECORD, key_schema='"string"', parse_key="true", null_marker="N") == 0
    assert read("avro", 3) == ['{"f1":{"string":"ä"}}', '{"f1":{"string":"plain"}}', "null"]
    with RegistryClient(registry_url) as client:
        key, value = client.version(f"{topic}-key").id, client.version(f"{topic}-value").id
    shown = read("avro", 3, print_key="true", print_schema_ids="true", print_offset="true", schema_id_separator="|")
    assert shown == [
        f'Offset:0\t"k1"|{key}\t{{"f1":{{"string":"ä"}}}}|{value}',
        f'Offset:1\t"k2"|{key}\t{{"f1":{{"string":"plain"}}}}|{value}',
        "Offset:2\tnull|null\tnull|null",
    ]


def test_protobuf_messages_by_name_and_ids_in_headers(write: Write, read: Read, registry_url: str, topic: str) -> None:
    assert write("protobuf", '{"q":"first"}\n', value_schema=PROTO) == 0
    named = {"value_schema": PROTO, "value_schema_full_name": "B", "value_schema_id_serializer": HEADER_SERIALIZER}
    assert write("protobuf", '{"theCount":"7"}\n{}\n', **named) == 0
    assert read("protobuf", 3) == ['{"q":"first"}', '{"theCount":"7"}', '{"theCount":"0"}']
    with RegistryClient(registry_url) as client:
        schema_id = client.version(f"{topic}-value").id
        guid = client.guid(schema_id)
    shown = read("protobuf", 2, preserve_json_field_name="true", print_schema_ids="true", print_headers="true")
    assert shown == [
        f'NO_HEADERS\t{{"q":"first"}}\t{schema_id}',
        f'__value_schema_id:null\t{{"the_count":"7"}}\t{guid}',
    ]


def test_json_schema_checks_what_is_written(
    write: Write, read: Read, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    file = tmp_path / "schema"
    file.write_text(OBJECT)
    assert write("json-schema", '{"f1": "x"}\n', value_schema_file=str(file)) == 0
    assert write("json-schema", '{"f1": 5}\n', value_schema=OBJECT) == 1
    assert b"at f1: 5 is not of type" in capfdbinary.readouterr().err
    assert write("json-schema", '{"f1": 5}\n', value_schema=OBJECT, json_fail_invalid_schema="false") == 0
    assert read("json-schema", 2, json_fail_invalid_schema="false") == ['{"f1":"x"}', '{"f1":5}']
    failed = read("json-schema", 2, status=1)
    assert any("Error deserializing message for id" in line for line in failed)
    assert read("json-schema", 2, "--skip-message-on-error") == ['{"f1":"x"}']


@pytest.mark.parametrize(
    ("serializer", "text", "shown"),
    [("StringSerializer", "word", "word"), ("LongSerializer", "-5", "-5"), ("ShortSerializer", "7", "7")],
)
def test_keys_without_a_schema(write: Write, read: Read, serializer: str, text: str, shown: str) -> None:
    package = "org.apache.kafka.common.serialization."
    given = {"parse_key": "true", "key_separator": ":", "key_serializer": package + serializer}
    assert write("avro", f"{text}:5\n", value_schema='"int"', **given) == 0
    reader = package + serializer.replace("Serializer", "Deserializer")
    assert read("avro", 1, print_key="true", key_deserializer=reader) == [f"{shown}\t5"]


def test_how_the_schema_is_found(write: Write, read: Read, topic: str, registry_url: str) -> None:
    with RegistryClient(registry_url) as client:
        assert write("avro", "5\n", value_schema='"int"', auto_register="false") == 1
        schema_id = client.register(f"{topic}-value", SchemaText('"int"'))
        assert write("avro", "5\n", value_schema='"int"', auto_register="false") == 0
        assert write("avro", "6\n", value_schema_id=str(schema_id)) == 0
        latest = {"auto_register_schemas": "false", "use_latest_version": "true"}
        assert write("avro", "7\n", value_schema='"long"', **latest) == 0
        named = {"value_subject_name_strategy": "TopicRecordNameStrategy"}
        assert write("avro", '{"f1":null}\n', value_schema=RECORD, **named) == 0
        assert client.versions(f"{topic}-myrecord") == [1]
        assert client.versions(f"{topic}-value") == [1]
    assert read("avro", 4) == ["5", "6", "7", '{"f1":null}']


def test_references_come_as_json(write: Write, read: Read, topic: str, registry_url: str) -> None:
    with RegistryClient(registry_url) as client:
        client.register(f"{topic}-used", SchemaText('{"type":"enum","name":"e.E","symbols":["A"]}'))
    references = [{"name": "e.E", "subject": f"{topic}-used", "version": 1}]
    assert (
        write("avro", '["A"]\n', value_schema='{"type":"array","items":"e.E"}', value_refs=json.dumps(references)) == 0
    )
    assert read("avro", 1) == ['["A"]']


@pytest.mark.parametrize(
    ("text", "properties", "complaint"),
    [
        ("5\n", {}, "Must provide the value schema in either value.schema, value.schema.id, or value.schema.file\n"),
        ("5\n", {"value_schema_file": "/nowhere"}, "Error reading schema from /nowhere\n"),
        ("5\n", {"value_schema_id": "x"}, "Error parsing value.schema.id as int\n"),
        ("5\n", {"value_schema": '"int"', "parse_key": "true"}, "Must provide the key schema in either"),
        ("x\n", {"value_schema": '"int"'}, 'Error deserializing json x to AVRO of schema "int": '),
        ("5\n", {"value_schema": '"int"', "value_refs": "5x"}, "value.refs is not JSON"),
        ("5\n", {"value_schema": '"int"', "value_refs": "[{}]"}, "value.refs must be a list of objects"),
        ("5\n", {"value_schema": '"int"', "value_schema_id_serializer": "x.Y"}, "x.Y: no such serializer."),
        ("5\n", {"value_schema": '"int"', "value_subject_name_strategy": "x.Y"}, "x.Y is no way to name subjects"),
        ("5\n", {"value_schema": '"int"', "schema_registry_url": "nowhere"}, "'nowhere' is no address of a registry"),
        (
            "k\t5\n",
            {"value_schema": '"int"', "parse_key": "true", "key_serializer": "x.Y"},
            "Error initializing key.serializer: x.Y is not there",
        ),
    ],
)
def test_a_mistake_is_told(
    write: Write, capsys: pytest.CaptureFixture[str], text: str, properties: dict[str, str], complaint: str
) -> None:
    assert write("avro", text, **properties) == 1
    assert complaint in capsys.readouterr().err


def test_a_schema_of_another_type_is_told(
    write: Write, topic: str, registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with RegistryClient(registry_url) as client:
        schema_id = client.register(f"{topic}-value", SchemaText(PROTO, "PROTOBUF"))
        assert write("avro", "5\n", value_schema_id=str(schema_id)) == 1
        complaint = "is of the type PROTOBUF, and this tool writes AVRO"
        assert f"value.schema.id={schema_id} {complaint}" in capsys.readouterr().err
        latest = {"auto_register": "false", "use_latest_version": "true"}
        assert write("avro", "5\n", value_schema='"int"', **latest) == 1
        assert f"schema {schema_id} {complaint}" in capsys.readouterr().err
        assert client.versions(f"{topic}-value") == [1]


def test_silence_is_explained(write: Write, read: Read, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write("avro", "5\n", value_schema='"int"') == 0
    silent = f"http://127.0.0.1:{free_port()}"
    assert write("avro", "5\n", value_schema='"int"', schema_registry_url=silent) == 1
    way_out = "property schema.registry.url=http://HOST:PORT"
    assert f"Connection refused. Name the registry with --reader-{way_out}\n".encode() in capfdbinary.readouterr().err
    assert any(f"--formatter-{way_out}" in line for line in read("avro", 1, status=1, schema_registry_url=silent))


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("kafka-avro-console-producer", ("schema.registry.url", "value.schema.file", "key.schema", "auto.register")),
        ("kafka-protobuf-console-producer", ("value.schema.id", "value.schema.full.name", "use.latest.version")),
        ("kafka-json-schema-console-consumer", ("schema.registry.url", "print.schema.ids", "json.fail.invalid.schema")),
    ],
)
def test_help_names_the_properties(tool: str, names: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    call(tool, ["--help"])
    shown = "".join(capfd.readouterr())
    assert [name for name in names if name not in shown] == []
    plain = f"kafka-console-{tool.rpartition('-')[2]}"
    call(plain, ["--help"])
    assert "schema.registry.url" not in "".join(capfd.readouterr())


def test_bytes_without_a_frame_are_told(
    read: Read, broker_address: str, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "input"
    path.write_text("plain\n")
    with path.open() as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        assert call("kafka-console-producer", ["--bootstrap-server", broker_address, "--topic", topic]) == 0
    assert any("Unknown magic byte!" in line for line in read("avro", 1, status=1))
