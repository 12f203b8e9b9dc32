"""What is an Avro schema and what is not, by the rules of Avro for Java."""

from __future__ import annotations

import pytest

from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.parsed_schema import InvalidSchema

ANY = pytest.mark.parametrize("new", [True, False], ids=["new", "stored"])


def record(field: str, more: str = "") -> str:
    return f'{{"type":"record","name":"R","fields":[{field}]{more}}}'


def refusal(text: str, references: dict[str, str] | None = None, *, new: bool = True) -> str:
    with pytest.raises(InvalidSchema) as error:
        AvroSchema.parse(text, references, new=new)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (" ", "the schema is empty"),
        ("{", "not valid JSON at line 1, column 2"),
        ('"string" "int"', "not valid JSON at line 1, column 10: extra data"),
        ('"string" // a comment', "dangling content after end of schema: // a comment"),
        ("5", "Schema not yet supported: 5 (at $; "),
        ('{"type":{"type":"string"}}', 'No type: {"type":{"type":"string"}} (at $; '),
        ('"Unknown"', "Undefined schema: Unknown (at $; "),
        ('{"type":"array","items":"n.X"}', "Undefined schema: n.X (at $.items; "),
        ('{"type":"array"}', "Array has no items type"),
        ('{"type":"map"}', "Map has no values type"),
        ('{"type":"record","fields":[]}', "No name in schema"),
        ('{"type":"record","name":"R"}', "Record has no fields"),
        ('{"type":"record","name":"int","fields":[]}', "Schemas may not be named after primitives: int"),
        (record('"f"'), "No field name: {} (at $.fields[0]; "),
        (record('{"name":"f"}'), "No field type"),
        (
            record('{"name":"f","type":"int"},{"name":"f","type":"int"}'),
            "Duplicate field f in record R (at $.fields[1]; ",
        ),
        (record('{"name":"f","type":"int","order":"up"}'), 'No enum constant of order: "up" (at $.fields[0].order; '),
        (record('{"name":"f","type":"int","aliases":"x"}'), "aliases not an array"),
        (record('{"name":"f","type":"int","aliases":[5]}'), "alias not a string: 5"),
        (record('{"name":"f","type":"double","default":"many"}'), 'For input string: "many" (at $.fields[0].default; '),
        (record('{"name":"f","type":["null","Q"]}'), "Undefined schema: Q (at $.fields[0].type[1]; "),
        ('{"type":"enum","name":"E"}', "Enum has no symbols"),
        ('{"type":"enum","name":"E","symbols":["A","A"]}', "Duplicate enum symbol: A (at $.symbols[1]; "),
        ('{"type":"enum","name":"E","symbols":[5]}', "Null name (at $.symbols[0]; "),
        (
            '{"type":"enum","name":"E","symbols":["A"],"default":"B"}',
            "The Enum Default: B is not in the enum symbol set: [A]",
        ),
        ('{"type":"fixed","name":"F","size":1.0}', "Invalid or no size"),
        ('{"type":"fixed","name":"F","size":-1}', "Length is negative: -1"),
        ('{"type":"fixed","name":"F","size":2147483640}', "Cannot read arrays longer than 2147483639 bytes"),
        ('["int","int"]', "Duplicate in union:int (at $; "),
        ('[["int"]]', "Nested union"),
        (record('{"name":"f","type":["R","R"]}'), "Duplicate in union:R (at $.fields[0].type[0]; "),
        (record("", ',"p":9223372036854775808'), "Can't set a property to null: p"),
        (record("", ',"p":[{"q":-9223372036854775809}]'), "Can't set a property to null: p"),
        (
            '[{"type":"fixed","name":"F","size":1},{"type":"array","items":{"type":"fixed","name":"F","size":2}}]',
            "Can't redefine: F",
        ),
    ],
)
@ANY
def test_a_text_that_is_no_schema_is_refused_with_what_and_where(text: str, complaint: str, new: bool) -> None:
    assert complaint in refusal(text, new=new)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"type":"record","name":"né","fields":[]}', "Illegal character in: né"),
        (
            '{"type":"record","name":"R","namespace":"a-b","fields":[]}',
            'Namespace part "a-b" is invalid: Illegal character in: a-b',
        ),
        ('{"type":"record","name":"R","aliases":["1"],"fields":[]}', "Illegal initial character: 1"),
        (
            record('{"name":"f","type":"int","default":"x"}'),
            'Invalid default for field f: "x" not a int (at $.fields[0]; ',
        ),
        (record('{"name":"f","type":"int","default":2147483648}'), "Invalid default"),
        (record('{"name":"f","type":"long","default":1.0}'), "Invalid default"),
        (record('{"name":"f","type":"boolean","default":0}'), "Invalid default"),
        (record('{"name":"f","type":"int","default":true}'), "Invalid default"),
        (record('{"name":"f","type":{"type":"array","items":"int"},"default":[1,"x"]}'), "Invalid default"),
        (record('{"name":"f","type":{"type":"map","values":"int"},"default":{"k":null}}'), "Invalid default"),
        (
            record(
                '{"name":"f","type":{"type":"record","name":"S","fields":[{"name":"x","type":"int"}]},"default":{}}'
            ),
            "Invalid default",
        ),
        (record('{"name":"f","type":"R","default":{}}'), "Schema fields not set yet"),
    ],
)
def test_a_new_schema_is_checked_in_full_and_a_stored_one_is_taken(text: str, complaint: str) -> None:
    assert complaint in refusal(text)
    AvroSchema.parse(text, new=False)


@pytest.mark.parametrize("text", ['{"type":"record","name":"a-b","fields":[]}', record('{"name":"1","type":"int"}')])
def test_a_stored_schema_must_have_names_too(text: str) -> None:
    assert "Illegal" in refusal(text, new=False)


@pytest.mark.parametrize(
    "text",
    [
        record('{"name":"f","type":["null","string"],"default":"any branch will do"}'),
        record('{"name":"f","type":["R","null"],"default":null}'),
        record('{"name":"f","type":"double","default":" -1.5e3f "},{"name":"g","type":"float","default":"NaN"}'),
        record(
            '{"name":"f","type":{"type":"record","name":"S","fields":[{"name":"x","type":"int","default":1}]},"default":{}}'
        ),
        '[{"type":"record","name":"A","fields":[{"name":"b","type":"B","default":{}}]},{"type":"record","name":"B","fields":[]}]',
        '{"type":"bytes","logicalType":"decimal","precision":"none"}',
        '["null",{"type":"enum","name":"E","symbols":[]},{"type":"array","items":{"type":"enum","name":"E","symbols":[],"doc":"again"}}]',
    ],
)
def test_what_java_takes_is_taken(text: str) -> None:
    AvroSchema.parse(text, new=True)


def test_references_are_known_by_name_in_their_order() -> None:
    references = {
        "first": '{"type":"fixed","name":"n.F","size":2}',
        "second": '{"type":"record","name":"n.S","fields":[{"name":"f","type":"F"}]}',
    }
    text = '{"type":"record","name":"n.R","fields":[{"name":"s","type":"S"},{"name":"f","type":"F"}]}'
    assert AvroSchema.parse(text, references, new=True).name == "n.R"
    assert "Undefined schema: n.S" in refusal(text, {"first": references["first"]})
    assert "the referenced schema second cannot be read: Undefined schema: n.F" in refusal(
        text, {"second": references["second"]}
    )
