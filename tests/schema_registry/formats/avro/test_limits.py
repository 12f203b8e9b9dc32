"""Input that means harm is refused, or takes no longer than it should."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_registry.formats.avro import compatibility
from schema_registry.formats.avro.compatibility import INCOMPATIBILITIES_MAX
from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, SCHEMA_MAX_CHARACTERS, InvalidSchema

pytestmark = pytest.mark.timeout(120)  # Where time could grow exponentially or with the square, hours would not do.


def record(name: str, *types: Any, **more: Any) -> dict[str, Any]:
    fields = [{"name": f"f{number}", "type": a_type, **more} for number, a_type in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


def ladder(steps: int, last: str) -> AvroSchema:
    """Each record holds the next one twice: there are as many ways to the last as two to the power of the steps."""
    schema = record(f"R{steps}", last)
    for step in range(steps - 1, -1, -1):
        schema = record(f"R{step}", schema, f"R{step + 1}")
    return AvroSchema.parse(json.dumps(schema))


def ring(size: int) -> AvroSchema:
    aliases = [f"R{number}" for number in range(size + 1)]
    return AvroSchema.parse(
        json.dumps([{**record(f"R{number}", f"R{(number - 1) % size}"), "aliases": aliases} for number in range(size)])
    )


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        '{"type":"array","items":' * 100_000,
        "[" * SCHEMA_MAX_CHARACTERS,
        json.dumps([record(f"R{step}", f"R{step + 1}") for step in range(1000)] + [record("R1000")]),
        f'"{"x" * SCHEMA_MAX_CHARACTERS}"',
    ],
    ids=["arrays", "brackets", "chain of types", "size"],
)
def test_what_is_too_deep_or_too_long_is_refused(text: str, new: bool) -> None:
    with pytest.raises(InvalidSchema, match=r"levels deep|at most"):
        AvroSchema.parse(text, new=new)


def test_the_deepest_text_passes_everything() -> None:
    levels = NESTING_MAX_LEVELS - 1
    schema = AvroSchema.parse('{"type":"array","items":' * levels + '"int"' + "}" * levels, new=True)
    assert schema.normalised().canonical == schema.canonical
    assert schema.differences(schema) == []


@pytest.mark.parametrize(
    ("begin", "end", "inner"),
    [('{"f0":', "}", '["null","R"]'), ('{"f0":[', "]}", '{"type":"array","items":["R","null"]}')],
    ids=["records", "arrays"],
)
def test_the_deepest_default_passes_everything(begin: str, end: str, inner: str) -> None:
    levels = (NESTING_MAX_LEVELS - 4) // len(end)
    default = begin * levels + ("null" if len(end) == 1 else "") + end * levels
    text = f'{{"type":"record","name":"S","fields":[{{"name":"s","type":"R","default":{default}}}]}}'
    references = {"r": f'{{"type":"record","name":"R","fields":[{{"name":"f0","type":{inner}}}]}}'}
    assert AvroSchema.parse(text, references, new=True).canonical == text


def test_a_record_that_is_too_deep_to_be_written_out_is_named() -> None:
    deep = [record("R0"), *(record(f"R{step}", f"R{step - 1}") for step in range(1, NESTING_MAX_LEVELS + 1))]
    last = {"name": "last", "type": f"R{NESTING_MAX_LEVELS}"}
    fields = [{"name": name, "type": "int"} for name in ("f", "g")]
    writer = [*deep, {"type": "record", "name": "S", "fields": [*fields, last]}]
    reader = [*deep, {"type": "record", "name": "S", "fields": [{**fields[0], "aliases": ["g"]}, last]}]
    (found,) = AvroSchema.parse(json.dumps(reader)).differences(AvroSchema.parse(json.dumps(writer)))
    assert found.message.endswith("matches multiple fields in writer record schema S")


def test_a_type_that_is_used_again_and_again_is_compared_once() -> None:
    assert ladder(60, "long").differences(ladder(60, "int")) == []
    assert len(ladder(60, "int").differences(ladder(60, "long"))) == INCOMPATIBILITIES_MAX


def test_defaults_that_lead_to_defaults_are_checked_once() -> None:
    inner = record("R0", "int", default=1)
    steps = [record(f"R{step}", f"R{step - 1}", f"R{step - 1}", default={}) for step in range(1, 60)]
    AvroSchema.parse(json.dumps([inner, *steps]), new=True)


def test_recursion_through_pairs_costs_no_stack() -> None:
    assert ring(49).differences(ring(50)) == []


def test_ten_thousand_fields_are_no_trouble() -> None:
    reader = AvroSchema.parse(json.dumps(record("R", *["string"] * 10_000)), new=True)
    assert reader.differences(reader.normalised()) == []
    assert len(reader.differences(AvroSchema.parse(json.dumps(record("R"))))) == 10_000


def test_unions_that_need_too_many_comparisons_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatibility, "PAIRS_MAX", 1000)
    union = AvroSchema.parse(json.dumps([{"type": "fixed", "name": f"F{number}", "size": 1} for number in range(50)]))
    (found,) = union.differences(union)
    assert found.rule == "TOO_MANY_COMPARISONS"
    assert (
        found.message == "Unexpected exception during compatibility check: the schemas need more than 1000 comparisons"
    )
