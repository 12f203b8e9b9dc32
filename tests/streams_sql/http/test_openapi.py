"""The OpenAPI document of the SQL server, and whether the server does what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from schemathesis import Case

from tests.openapi import Target, check_document, check_examples, check_responses, fetched
from tests.sql_service import SqlProcess

SOURCE = "readings"
LEFT_OUT = (
    # It deletes the sources of all tests.
    "POST /ksql/terminate",
    # Bodies are many objects, not one JSON value.
    "POST /inserts-stream",
)


@pytest.fixture(scope="module")
def target(sql_service: SqlProcess) -> Iterator[Target]:
    sql_service.execute(
        f"CREATE STREAM {SOURCE} (id INT KEY, name STRING)"
        f" WITH (KAFKA_TOPIC='{SOURCE}', PARTITIONS=1, VALUE_FORMAT='JSON');"
    )
    yield Target(
        sql_service.url,
        {"type": "stream", "entity": SOURCE.upper(), "action": "create", "property": "auto.offset.reset"},
        promptly,
    )
    sql_service.execute(f"DROP STREAM {SOURCE};")


def promptly(case: Case[Any]) -> None:
    """Without a change to wait for: the server gives up after a while when it has not been made."""
    if isinstance(case.body, dict):
        case.body.pop("commandSequenceNumber", None)


STATEMENTS = f"""
    SHOW STREAMS; SHOW STREAMS EXTENDED; SHOW TABLES; SHOW TOPICS; SHOW TOPICS EXTENDED; SHOW QUERIES; SHOW TYPES;
    SHOW VARIABLES; SHOW PROPERTIES; SHOW FUNCTIONS; DESCRIBE FUNCTION ABS; DESCRIBE FUNCTION COUNT;
    DESCRIBE {SOURCE}; DESCRIBE {SOURCE} EXTENDED; EXPLAIN SELECT * FROM {SOURCE} EMIT CHANGES;
    CREATE TYPE point AS STRUCT<x DECIMAL(4, 2), y ARRAY<INT>, z MAP<STRING, INT>>; SHOW TYPES; DROP TYPE point;
    INSERT INTO {SOURCE} VALUES (1, 'one');
"""


def test_the_document_is_valid(target: Target) -> None:
    check_document(fetched(target.url))


def test_entities_are_as_described(target: Target, sql_service: SqlProcess) -> None:
    document = fetched(target.url)
    schema = {"$ref": "#/$defs/Entity", "$defs": {**document["components"]["schemas"], "Entity": entity_of(document)}}
    text = json.dumps(schema).replace("#/components/schemas/", "#/$defs/")
    validator = jsonschema_rs.validator_for(text)
    entities = sql_service.execute(STATEMENTS)
    assert len({entity["@type"] for entity in entities}) > 12
    problems = [
        f"{entity['@type']}: {validator.evaluate(entity).errors()}"
        for entity in entities
        if not validator.is_valid(entity)
    ]
    assert not problems, problems


def entity_of(document: dict[str, Any]) -> Any:
    """The schema of an entity."""
    return document["paths"]["/ksql"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]["items"]


def test_examples_are_accepted(target: Target) -> None:
    check_examples(target, LEFT_OUT)


@pytest.mark.parametrize("examples", [2, pytest.param(30, marks=pytest.mark.long)])
def test_responses_are_as_described(examples: int, target: Target) -> None:
    check_responses(target, examples, LEFT_OUT)
