"""What PRINT makes of bytes of which nobody says the format."""

from __future__ import annotations

import struct

import pytest

from streams_sql.formats.guess import NOTHING_SEEN, FormatGuess
from streams_sql.formats.serde import RegistryAccess
from streams_sql.sources import FormatUse
from streams_sql.sql_types import BIGINT, BYTES, STRING, Map, SqlType
from tests.streams_sql.formats.layouts import encode_one, layout_of

START_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("payloads", "texts", "names"),
    [
        ([], [], [NOTHING_SEEN]),
        ([None], ["<null>"], [NOTHING_SEEN]),
        ([b'{"a": 1}', None, b"12"], ['{"a": 1}', "<null>", "12"], ["JSON", "KAFKA_STRING"]),
        ([b"\x00\x00\x00\x05"], ["5"], ["KAFKA_INT", "KAFKA_STRING"]),
        ([b"\xff\xff\xff\xfe"], ["-2"], ["KAFKA_INT"]),
        ([struct.pack(">q", -2)], ["-2"], ["KAFKA_BIGINT", "KAFKA_DOUBLE"]),
        ([b"1234", b"x"], ["1234", "x"], ["KAFKA_STRING"]),
        ([b"\x00\xff\\A!"], [r"\x00\xFF\x5CA!"], ["UNRECOGNISED_BYTES"]),
    ],
    ids=str,
)
def test_values(payloads: list[bytes | None], texts: list[str], names: list[str]) -> None:
    guess = FormatGuess(None, is_key=False)
    assert guess.texts(payloads) == texts
    assert guess.names == names


@pytest.mark.parametrize(
    ("payload", "text", "first"),
    [
        (b"key", "key", "KAFKA_STRING"),
        (b"a key that is longer than any window", "a key that is longer than any window", "KAFKA_STRING"),
        (b"key" + struct.pack(">q", START_MS), f"[key@{START_MS}/-]", "HOPPING(KAFKA_STRING)"),
        (struct.pack(">iqq", 5, START_MS + 9, START_MS), f"[5@{START_MS}/{START_MS + 9}]", "SESSION(KAFKA_INT)"),
    ],
    ids=str,
)
def test_keys_may_have_windows(payload: bytes, text: str, first: str) -> None:
    guess = FormatGuess(None, is_key=True)
    assert guess.texts([payload]) == [text]
    assert guess.names[0] == first


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AVRO", '{"ID": 1, "NAME": "é", "M": {"k": 2}, "B": "\\\\x00"}'),
        ("JSON_SR", '{"ID":1,"NAME":"é","M":[{"key":"k","value":2}],"B":"AA=="}'),
        ("PROTOBUF", 'ID: 1 NAME: "é" M { key: "k" value: 2 } B: "\\000"'),
    ],
)
def test_records_of_the_registry_are_known_by_their_schemas(
    name: str, text: str, access: RegistryAccess, topic: str
) -> None:
    columns: dict[str, SqlType] = {"ID": BIGINT, "NAME": STRING, "M": Map(STRING, BIGINT), "B": BYTES}
    layout = layout_of(columns, FormatUse(name), topic=topic, registry=access)
    payload = encode_one(layout, (1, "é", {"k": 2}, b"\x00"))
    guess = FormatGuess(access, is_key=False)
    assert guess.texts([payload]) == [text]
    assert guess.names[0] == name


def test_a_single_value_of_avro_is_shown_as_it_is(access: RegistryAccess, topic: str) -> None:
    layout = layout_of({"K": STRING}, FormatUse("AVRO"), topic=topic, is_key=True, registry=access)
    guess = FormatGuess(access, is_key=True)
    assert guess.texts([encode_one(layout, ("k",))]) == ["k"]
    assert guess.names[0] == "AVRO"
