"""The OpenAPI document of the Connect worker, and whether the worker does what it says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connect_service import ConnectProcess
from tests.openapi import Target, check_document, check_examples, check_responses, fetched

CONNECTOR = "conformance"
EXAMPLE = "lines"
"""The connector that the example of the document creates."""


@pytest.fixture(scope="module")
def target(worker: ConnectProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The worker with one connector."""
    lines: Path = tmp_path_factory.mktemp("described") / "lines.txt"
    lines.write_text("one\n")
    config = {"connector.class": "FileStreamSource", "file": str(lines), "topic": "described-lines"}
    worker.create(CONNECTOR, config)
    worker.wait_for_tasks(CONNECTOR, ["RUNNING"])
    names = {"connector": CONNECTOR, "task": 0, "plugin": "FileStreamSource", "logger": "root"}
    yield Target(worker.url, names)
    for name in (CONNECTOR, EXAMPLE):
        worker.call("DELETE", f"/connectors/{name}")


def test_the_document_is_valid(target: Target) -> None:
    check_document(fetched(target.url))


def test_examples_are_accepted(target: Target) -> None:
    check_examples(target)


@pytest.mark.parametrize("examples", [2, pytest.param(30, marks=pytest.mark.long)])
def test_responses_are_as_described(examples: int, target: Target) -> None:
    check_responses(target, examples)
