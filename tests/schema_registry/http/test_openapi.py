"""The OpenAPI document of the registry, and whether the registry does what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schema_registry.http.shapes import SCHEMA_EXAMPLE
from tests.broker import BrokerProcess
from tests.openapi import Target, check_document, check_examples, check_responses, fetched
from tests.registry import RegistryProcess, ask

SUBJECT = "conformance"


@pytest.fixture(scope="module")
def target(barnabas: BrokerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A registry with one schema that no other test uses: modes and configurations of the whole registry change."""
    home: Path = tmp_path_factory.mktemp("described-registry")
    settings = {"kafkastore.topic": "_described", "schema.registry.group.id": "described"}
    registry = RegistryProcess(home, barnabas.address, settings=settings)
    registry.start()
    registered = ask(
        registry.url,
        "POST",
        f"/subjects/{SUBJECT}/versions",
        {**SCHEMA_EXAMPLE, "metadata": {"properties": {"owner": "somebody"}}},
    ).body
    ask(registry.url, "PUT", f"/config/{SUBJECT}", {"compatibility": "NONE"})
    ask(registry.url, "PUT", f"/mode/{SUBJECT}", {"mode": "READWRITE"})
    names = {"subject": SUBJECT, "version": "1", "id": registered["id"], "guid": registered["guid"], "namespace": "-"}
    yield Target(registry.url, names)
    registry.stop()


def test_the_document_is_valid(target: Target) -> None:
    check_document(fetched(target.url))


def test_examples_are_accepted(target: Target) -> None:
    check_examples(target)


@pytest.mark.parametrize("examples", [2, pytest.param(30, marks=pytest.mark.long)])
def test_responses_are_as_described(examples: int, target: Target) -> None:
    check_responses(target, examples)
