"""Subjects by topic, by record, and by both."""

from __future__ import annotations

import pytest

from barnabas.kernel.serdes import subject
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError

RECORD = SchemaText('{"type":"record","name":"R","namespace":"a.b","fields":[]}', AVRO)
PROTO = SchemaText(
    'syntax = "proto3";\n// package no;\n/* message No {} */\npackage a.b;\nimport "x";\n  message M {}\nmessage N {}',
    PROTOBUF,
)


@pytest.mark.parametrize(
    ("name", "schema", "is_key", "expected"),
    [
        ("TopicNameStrategy", RECORD, False, "t-value"),
        ("io.confluent.kafka.serializers.subject.TopicNameStrategy", RECORD, True, "t-key"),
        ("RecordNameStrategy", RECORD, False, "a.b.R"),
        ("RecordNameStrategy", SchemaText('{"type":"enum","name":"x.E","namespace":"y","symbols":[]}'), False, "x.E"),
        ("RecordNameStrategy", SchemaText('{"type":"fixed","name":"F","size":1}'), False, "F"),
        ("RecordNameStrategy", SchemaText('{"title":"T"}', JSON), False, "T"),
        ("RecordNameStrategy", PROTO, False, "a.b.M"),
        ("RecordNameStrategy", SchemaText("message M {}", PROTOBUF), False, "M"),
        (
            "RecordNameStrategy",
            SchemaText(
                'syntax="proto3";package a.b;option x = "message No {";enum E{A=0;}message M{} /* message', PROTOBUF
            ),
            False,
            "a.b.M",
        ),
        ("TopicRecordNameStrategy", RECORD, True, "t-a.b.R"),
    ],
)
def test_a_strategy_names_the_subject(name: str, schema: SchemaText, is_key: bool, expected: str) -> None:
    assert subject.strategy_named(name)("t", is_key, schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        SchemaText('"string"'),
        SchemaText('{"type":"array","items":"int"}'),
        SchemaText("{"),
        SchemaText('{"title":5}', JSON),
        SchemaText("enum E {}", PROTOBUF),
    ],
)
def test_a_schema_without_a_name_names_no_subject(schema: SchemaText) -> None:
    with pytest.raises(SerdesError, match="names no record"):
        subject.record_name("t", False, schema)


def test_an_unknown_strategy_is_told_with_those_there_are() -> None:
    with pytest.raises(SerdesError, match=r"x\.Y is no way .* TopicNameStrategy, RecordNameStrategy"):
        subject.strategy_named("x.Y")
