"""Two ways of writing a schema become one, as in Confluent's registry."""

from __future__ import annotations

import pytest

from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.parsed_schema import InvalidSchema


def field(a_type: str, more: str) -> str:
    return f'{{"type":"record","name":"R","fields":[{{"name":"f","type":{a_type}{more}}}]}}'


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (
            '{"type":"int","q":1,"p":{"b":1,"a":[{"d":1,"c":2}]}}',
            '{"type":"int","p":{"a":[{"c":2,"d":1}],"b":1},"q":1}',
        ),
        ('{"type":"int","a":1,"logicalType":"date"}', '{"type":"int","logicalType":"date","a":1}'),
        ('{"type":"long","a":1,"logicalType":"date"}', '{"type":"long","a":1,"logicalType":"date"}'),
        (
            '{"type":"bytes","scale":2,"a":1,"precision":4,"logicalType":"decimal"}',
            '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2,"a":1}',
        ),
        (
            '{"type":"bytes","scale":0,"z":1,"precision":4,"logicalType":"decimal"}',
            '{"type":"bytes","logicalType":"decimal","precision":4,"scale":0,"z":1}',
        ),
        (
            '{"type":"fixed","name":"F","size":2,"precision":5,"logicalType":"decimal"}',
            '{"type":"fixed","name":"F","size":2,"logicalType":"decimal","precision":5}',
        ),
        (
            '{"type":"error","name":"n.R","doc":"","aliases":["X","m.A",".Y"],"fields":[]}',
            '{"type":"record","name":"R","namespace":"n","fields":[],"aliases":["Y","m.A","X"]}',
        ),
        (
            field('"int"', ',"aliases":["h","g"],"q":1,"p":2,"order":"ascending"'),
            field('"int"', ',"aliases":["g","h"],"p":2,"q":1'),
        ),
        (field('"double"', ',"default":1'), field('"double"', ',"default":1.0')),
        (field('"float"', ',"default":0.123456789'), field('"float"', ',"default":0.12345679')),
        (field('"float"', ',"default":1e300'), field('"float"', ',"default":"Infinity"')),
        (field('"bytes"', ',"default":"ÿĀ😀"'), field('"bytes"', ',"default":"ÿ??"')),
        (field('["null","string"]', ',"default":"x"'), field('["null","string"]', "")),
        (field('["null","string"]', ',"default":null'), field('["null","string"]', ',"default":null')),
        (
            field('{"type":"map","values":"int"}', ',"default":{"b":1,"a":2,"😀":3,"\uff5a":4}'),
            field('{"type":"map","values":"int"}', ',"default":{"a":2,"b":1,"😀":3,"\uff5a":4}'),
        ),
    ],
)
def test_attributes_are_sorted_and_defaults_are_values_of_their_type(text: str, normal: str) -> None:
    normalised = AvroSchema.parse(text, new=True).normalised()
    assert normalised.canonical == normal
    assert normalised.normalised().canonical == normal


def test_referenced_types_stay_names() -> None:
    schema = AvroSchema.parse('["n.F"]', {"r": '{"type":"fixed","name":"n.F","size":1}'})
    assert schema.normalised().canonical == '["n.F"]'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (field("[]", ""), "the union of field f is empty"),
        ('{"type":"string","p":9223372036854775808}', "p holds the number 9223372036854775808 of more than 64 bits"),
        (field('{"type":"record","name":"S","fields":[]}', ',"default":{"unknown":1}'), "is no value of its type"),
        (field('{"type":"array","items":["null","int"]}', ',"default":[1]'), r"\[1\] is no value of its type"),
        ('{"type":"string","a\\"b":1}', "not valid JSON"),
    ],
)
def test_what_confluent_cannot_normalise_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSchema, match=complaint):
        AvroSchema.parse(text, new=True).normalised()
