"""`barnabas produce` and `consume` with schemas of a registry, and without one."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from barnabas.cli.main import main
from barnabas.kernel.serdes.framing import id_prefix
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.schema_text import SchemaText
from tests.cli.conftest import Call
from tests.ports import free_port

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":["null","string"],"default":null}]}'
PERSON = '{"type":"object","properties":{"age":{"type":"integer","minimum":0}}}'
UNKNOWN_ID = 2_000_000_000
MESSAGE = 'syntax = "proto3"; message M { string text = 1; }'

SALE = {
    "type": "record",
    "name": "Sale",
    "fields": [
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "either", "type": ["null", "int", "string"]},
    ],
}
SHOWN_SALE = {"price": "-12.50", "day": "2026-01-31", "at": "2026-01-31T12:00:00.250Z", "either": "x"}

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(broker_address: str, registry_url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command against broker and registry. Returns its status and what it printed to both streams."""

    def command(*words: str, registry: str = registry_url) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([*words, "--bootstrap-server", broker_address, "--registry", registry])
        return status, *capsys.readouterr()

    return command


@pytest.fixture
def own_topic(run_at: Call, topic: str) -> str:
    run_at("topics", "create", topic, "-p", "1")
    return topic


def test_records_of_all_types_in_one_topic(run: Run, own_topic: str, tmp_path: Path, registry_url: str) -> None:
    files = {"order.avsc": ORDER, "person.json": PERSON, "m.proto": MESSAGE, "key.avsc": '"string"'}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with RegistryClient(registry_url) as client:
        order_id = client.register(f"{own_topic}-order", SchemaText(ORDER))
    at = tmp_path.joinpath
    for value, schema in (
        ('{"id":1,"note":"plain"}', str(order_id)),
        ('{"id":2}', f"{own_topic}-order"),
        ('{"id":3,"note":{"string":"x"}}', f"{own_topic}-order:1"),
        ('{"age":5}', str(at("person.json"))),
    ):
        words = ("--value-schema", schema, "--key", "a key", "--key-schema", str(at("key.avsc")))
        assert run("produce", own_topic, value, *words)[0] == 0
    assert run("produce", own_topic, "plain text")[0] == 0
    status, out, said = run("consume", own_topic)
    assert (status, out.splitlines()) == (
        0,
        [
            '0:0  "a key"  {"id":1,"note":"plain"}',
            '0:1  "a key"  {"id":2,"note":null}',
            '0:2  "a key"  {"id":3,"note":"x"}',
            '0:3  "a key"  {"age":5}',
            "0:4  plain text",
        ],
    )
    assert said.splitlines() == [
        "barnabas: keys are decoded with AVRO schemas of the registry; --raw shows the bytes",
        "barnabas: values are decoded with AVRO schemas of the registry; --raw shows the bytes",
        "barnabas: values are decoded with JSON schemas of the registry; --raw shows the bytes",
    ]


def test_what_is_read_as_lines_of_json_can_be_written_again(run: Run, own_topic: str, tmp_path: Path) -> None:
    schema, copy = tmp_path / "m.proto", tmp_path / "copy"
    schema.write_text(MESSAGE)
    run("produce", own_topic, '{"text":"x"}', "--key", "k", "--value-schema", str(schema))
    _, lines, _ = run("consume", own_topic, "-o", "jsonl")
    row = json.loads(lines)
    assert (row["key"], row["value"]) == ("k", {"text": "x"})
    copy.write_text(lines)
    words = ("--file", str(copy), "--input", "jsonl", "--value-schema", f"{own_topic}-value")
    assert run("produce", own_topic, *words)[0] == 0
    _, both, _ = run("consume", own_topic, "-o", "json")
    assert [record["value"] for record in json.loads(both)] == [{"text": "x"}] * 2


def test_logical_types_are_shown_as_people_read_them(run: Run, own_topic: str, tmp_path: Path) -> None:
    schema, copy = tmp_path / "sale.avsc", tmp_path / "copy"
    schema.write_text(json.dumps(SALE))
    sale = json.dumps(SHOWN_SALE)
    assert run("produce", own_topic, sale, "--key", "7", "--value-schema", str(schema))[0] == 0
    _, lines, _ = run("consume", own_topic, "-o", "jsonl")
    assert json.loads(lines)["value"] == SHOWN_SALE
    copy.write_text(lines)
    assert run("produce", own_topic, "--file", str(copy), "--input", "jsonl", "--value-schema", str(schema))[0] == 0
    _, both, _ = run("consume", own_topic, "-o", "json")
    assert [record["value"] for record in json.loads(both)] == [SHOWN_SALE] * 2


def test_keys_that_are_numbers_are_shown_as_numbers(run: Run, own_topic: str, broker_address: str) -> None:
    keys = (b"text", b"8 tokens", struct.pack(">i", -5), struct.pack(">q", 7), b"\xffabc", b"\xffabcd")
    producer = Producer({"bootstrap.servers": broker_address})
    for key in keys:
        producer.produce(own_topic, key=key, value=b"v")
    producer.flush()
    rows = [json.loads(line) for line in run("consume", own_topic, "-o", "jsonl")[1].splitlines()]
    number = int.from_bytes(b"\xffabc", "big", signed=True)
    assert [row["key"] for row in rows] == ["text", "8 tokens", -5, 7, number, "\ufffdabcd"]
    assert run("consume", own_topic)[1].splitlines()[2:4] == ["0:2  -5  v", "0:3  7  v"]
    assert json.loads(run("consume", own_topic, "--raw", "-o", "jsonl")[1].splitlines()[3])["key"] == "\0" * 7 + "\7"


def test_a_value_that_does_not_fit_is_not_written(run: Run, own_topic: str, tmp_path: Path) -> None:
    schema = tmp_path / "person.json"
    schema.write_text(PERSON)
    status, _, said = run("produce", own_topic, '{"age":-1}', "--value-schema", str(schema))
    assert (status, said) == (
        2,
        (
            "barnabas: the value '{\"age\":-1}' does not fit its schema: at age: -1 is less than the minimum of 0\n"
            "  Nothing was written.\n"
        ),
    )
    assert run("consume", own_topic)[1] == ""
    status, _, said = run("produce", own_topic, "x", "--value-schema", "no-such-subject")
    assert (status, "no-such-subject is neither a file nor a subject" in said) == (1, True)
    status, _, said = run("produce", own_topic, "x", "--value-schema", "nowhere.avsc")
    assert (status, "nowhere.avsc: No such file or directory" in said) == (2, True)
    schema.write_text("{")
    status, _, said = run("produce", own_topic, "x", "--value-schema", str(schema))
    assert (status, f"{schema} is not a valid schema: " in said) == (2, True)


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        (
            ("5", "null", "7"),
            (),
            "line 2: the value 'null' does not fit its schema: null is not an int of 32 bits\n  1 record ",
        ),
        (("k:5", "l:6", "7"), ("--key-separator", ":"), "line 3: no ':' in the line '7'\n"),
    ],
)
def test_a_line_that_does_not_fit_is_named(
    run: Run, own_topic: str, tmp_path: Path, lines: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    schema, file = tmp_path / "int.avsc", tmp_path / "lines"
    schema.write_text('"int"')
    file.write_text("\n".join(lines))
    status, _, errors = run("produce", own_topic, "--file", str(file), "--value-schema", str(schema), *words)
    assert (status, errors.startswith(f"barnabas: {said}")) == (2, True), errors
    written = len(run("consume", own_topic)[1].splitlines())
    assert errors.endswith(f"{written} record{' before it was' if written == 1 else 's before it were'} written.\n")


def test_a_value_of_null_is_a_tombstone(run: Run, own_topic: str, tmp_path: Path) -> None:
    schema, file = tmp_path / "int.avsc", tmp_path / "lines"
    schema.write_text('"int"')
    file.write_text('{"key":"k","value":5}\n{"key":"k","value":null}\n')
    assert run("produce", own_topic, "-f", str(file), "--input", "jsonl", "--value-schema", str(schema))[0] == 0
    rows = [json.loads(line) for line in run("consume", own_topic, "-o", "jsonl")[1].splitlines()]
    assert [(row["key"], row["value"]) for row in rows] == [("k", 5), ("k", None)]


def test_without_a_registry_records_are_shown_as_they_are(
    run: Run, run_at: Call, own_topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = tmp_path / "key.avsc"
    schema.write_text('"string"')
    assert run("produce", own_topic, "word", "--value-schema", str(schema))[0] == 0
    raw = run("consume", own_topic, "--raw")
    assert (raw[0], raw[1].endswith("\x08word\n"), raw[2]) == (0, True, "")
    silent = f"http://127.0.0.1:{free_port()}"
    status, out, said = run("consume", own_topic, registry=silent)
    assert (status, out) == (0, raw[1])
    assert said == (
        f"barnabas: cannot reach the schema registry at {silent}: Connection refused; records are shown as they are\n"
    )
    # A registry that nobody asked for is not missed.
    monkeypatch.delenv("SCHEMA_REGISTRY_URL", raising=False)
    monkeypatch.setattr("barnabas.cli.schemas.arguments.address_of", lambda _service: silent)
    assert run_at("consume", own_topic) == raw[1]


def test_bytes_that_only_look_framed_are_shown_as_they_are(
    run: Run, own_topic: str, broker_address: str, registry_url: str
) -> None:
    with RegistryClient(registry_url) as client:
        known = client.register(f"{own_topic}-value", SchemaText('{"type":"fixed","name":"F","size":9}'))
    producer = Producer({"bootstrap.servers": broker_address})
    for schema_id in (known, UNKNOWN_ID):
        producer.produce(own_topic, id_prefix(schema_id) + b"ab")
    producer.flush()
    status, out, said = run("consume", own_topic)
    assert (status, out.count("ab\n")) == (0, 2)
    assert f"schema {known} does not read the value: the data ends too early" in said
    assert f"schema {UNKNOWN_ID}: Schema {UNKNOWN_ID} not found" in said
