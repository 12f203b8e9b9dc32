"""Random schemas, read, printed and compared by Avro for Java and by ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schema_registry.formats.avro.compatibility import Rule
from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.parsed_schema import InvalidSchema
from tests.schema_registry.formats.avro.java_avro import ask_java
from tests.schema_registry.formats.avro.random_schemas import RandomSchemas

SEED = 20
SCHEMAS = 400
PAIRS = 400


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was asked, and what Java said."""

    schemas: list[tuple[dict[str, Any], dict[str, Any]]]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture(scope="module")
def java_said(java: Path) -> Comparison:
    """All questions at once, since starting Java takes longer than all answers."""
    schemas, pairs = RandomSchemas(SEED), RandomSchemas(SEED, fault_rate=0)
    questions: list[dict[str, Any]] = []
    for number in range(SCHEMAS):
        references = [schemas.schema()] if number % 5 == 0 else []
        questions.append({"schema": schemas.schema(), "references": references})
    for _ in range(PAIRS):
        reader, writer = pairs.pair()
        questions.append({"reader": reader, "writer": writer})
    asked = list(zip(questions, ask_java(java, questions), strict=True))
    return Comparison(asked[:SCHEMAS], asked[SCHEMAS:])


def test_the_same_schemas_are_refused_and_all_others_are_printed_alike(java_said: Comparison) -> None:
    printed = 0
    for question, answer in java_said.schemas:
        schema = parsed(question["schema"], question["references"], new=True)
        assert (schema is None) == ("error" in answer), (question, answer)
        if schema:
            assert {"canonical": schema.canonical, "resolved": schema.formatted("resolved")} == answer, question
            printed += 1
    assert SCHEMAS / 2 < printed < SCHEMAS


def test_the_same_differences_are_found_in_the_same_order(java_said: Comparison) -> None:
    rules: set[str] = set()
    for question, answer in java_said.pairs:
        reader, writer = parsed(question["reader"]), parsed(question["writer"])
        if not (reader and writer):
            assert "error" in answer, question
            continue
        found = reader.differences(writer)
        rules |= {difference.rule for difference in found}
        if "error" in answer:
            sentence = f"Unexpected exception during compatibility check: {answer['error']}"
            assert [difference.message for difference in found] == [sentence], question
        else:
            expected = [(rule, path, f"additionalInfo:'{words}'}}") for rule, path, words in answer["differences"]]
            ours = [(one.rule, one.path, one.message[one.message.rindex("additionalInfo:") :]) for one in found]
            assert ours == expected, question
    assert rules == {rule.value for rule in Rule} - {"TOO_MANY_COMPARISONS"}


def parsed(text: str, references: Sequence[str] = (), *, new: bool = False) -> AvroSchema | None:
    try:
        return AvroSchema.parse(text, {f"reference-{number}": one for number, one in enumerate(references)}, new=new)
    except InvalidSchema:
        return None
