"""The registry's operations, on a topic that answers at once."""

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from schema_registry.formats.avro.schema import AvroSchema
from schema_registry.formats.difference import Difference
from schema_registry.operations import comparisons
from schema_registry.operations.register import Record
from schema_registry.operations.request import SchemaRequest
from schema_registry.parsing import LATEST
from schema_registry.registry import Registry
from schema_registry.schema import Schema
from schema_registry.scopes import Defaults
from schema_registry.state.replay import replay
from schema_registry.state.state import State


class Topic:
    """Hands records back as soon as they are written."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def settle(self) -> None:
        """Nothing is ever in doubt."""

    async def write(self, records: Sequence[Record]) -> None:
        for key, value in records:
            replay(self._state, key, value, 0)


def large(*fields: str) -> SchemaRequest:
    written = [{"name": field, "type": "int", "default": 0} for field in fields]
    record = {"type": "record", "name": "R", "doc": "d" * comparisons.LARGE_CHARACTERS, "fields": written}
    return SchemaRequest(Schema(json.dumps(record)))


def test_large_schemas_are_compared_once_and_beside_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    compare = AvroSchema.differences

    def noted(*arguments: Any) -> list[Difference]:
        threads.append(threading.current_thread())
        return compare(*arguments)

    monkeypatch.setattr(AvroSchema, "differences", noted)

    async def scenario() -> None:
        state = State()
        registry = Registry(state, Topic(state), Defaults())
        await registry.register("s", large("a"), normalise=False, force=False)
        report = await registry.check("s", large("a", "b"), LATEST, normalise=False)
        assert report.compatible
        version = await registry.register("s", large("a", "b"), normalise=False, force=False)
        assert version.number == 2

    asyncio.run(scenario())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
