"""The canonical text is the one that Avro for Java prints."""

from __future__ import annotations

import pytest

from schema_registry.formats.avro.schema import AvroSchema


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('{"type": "string"}', '"string"'),
        (
            '{"p": 1.0, "type": "string", "q": {"b": 1e10, "a": "\\u00e9"}}',
            '{"type":"string","p":1.0,"q":{"b":1.0E10,"a":"é"}}',
        ),
        ('{"values": "int", "doc": "lost", "type": "map", "p": null}', '{"type":"map","values":"int","p":null}'),
        ('{"type":"error","name":"E","fields":[]}', '{"type":"error","name":"E","fields":[]}'),
        (
            '{"aliases":["X","m.Y","n.Z"],"p":1,"fields":[],"doc":"d","namespace":"n","name":"R","type":"record","default":0}',
            '{"type":"record","name":"R","namespace":"n","doc":"d","fields":[],"p":1,"default":0,"aliases":["X","m.Y","Z"]}',
        ),
        (
            '{"type":"record","name":"R","fields":[{"p":1,"aliases":["g"],"order":"IGNORE","default":"2","doc":"","type":"double","name":"f"}]}',
            '{"type":"record","name":"R","fields":[{"name":"f","type":"double","doc":"","default":2.0,"order":"ignore","aliases":["g"],"p":1}]}',
        ),
        (
            '{"type":"enum","name":"E","aliases":[],"symbols":["A"],"default":"A","p":1}',
            '{"type":"enum","name":"E","symbols":["A"],"default":"A","p":1}',
        ),
        (
            (
                '{"type":"record","name":"n.R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1}},'
                '{"name":"b","type":{"type":"fixed","name":"m.G","size":1}},{"name":"c","type":{"type":"fixed","namespace":"","name":"H","size":1}},'
                '{"name":"d","type":["F","m.G","H","n.R"]}]}'
            ),
            (
                '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1}},'
                '{"name":"b","type":{"type":"fixed","name":"G","namespace":"m","size":1}},'
                '{"name":"c","type":{"type":"fixed","name":"H","namespace":"","size":1}},{"name":"d","type":["F","m.G","H","R"]}]}'
            ),
        ),
        (
            '[{"type":"enum","name":"n.array","symbols":[]},{"type":"record","name":"n.R","fields":[{"name":"f","type":"array"}]}]',
            (
                '[{"type":"enum","name":"array","namespace":"n","symbols":[]},'
                '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":"n.array"}]}]'
            ),
        ),
        (
            (
                '{"z":1,"type":"array","logicalType":"map","items":{"type":"record","name":"E","fields":'
                '[{"name":"key","type":"int"},{"name":"value","type":"int"}]}}'
            ),
            (
                '{"type":"array","items":{"type":"record","name":"E","fields":[{"name":"key","type":"int"},{"name":"value","type":"int"}]},'
                '"logicalType":"map","z":1}'
            ),
        ),
    ],
)
def test_attributes_come_in_the_order_of_java(text: str, canonical: str) -> None:
    schema = AvroSchema.parse(text, new=True)
    assert schema.canonical == canonical
    assert AvroSchema.parse(canonical).canonical == canonical


def test_referenced_types_stay_names_unless_they_are_to_be_resolved() -> None:
    references = {
        "r": '{"type":"record","name":"n.R","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":1}}]}'
    }
    schema = AvroSchema.parse('["n.R", "n.F"]', references)
    assert schema.canonical == '["n.R",{"type":"fixed","name":"F","namespace":"n","size":1}]'
    assert schema.formatted("resolved") == f'[{AvroSchema.parse(references["r"]).canonical},"n.F"]'


@pytest.mark.parametrize("form", ["", "default", "Default", "serialized"])
def test_every_other_form_is_the_canonical_one(form: str) -> None:
    assert AvroSchema.parse('"n.F"', {"r": '{"type":"fixed","name":"n.F","size":1}'}).formatted(form) == '"n.F"'
