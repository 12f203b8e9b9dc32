"""What parsed schemas cost: large ones are parsed once for all who ask, and those that are kept do not pile up."""

import asyncio
import json

import pytest

from schema_registry import parsing
from schema_registry.formats.parsed_schema import ParsedSchema
from schema_registry.parsing import LARGE_CHARACTERS, Parser
from schema_registry.schema import Schema
from schema_registry.state.state import State

CLIENTS = 8


def large(name: str) -> Schema:
    return Schema(json.dumps({"type": "enum", "name": name, "symbols": ["A"], "doc": "d" * LARGE_CHARACTERS}))


def test_who_asks_for_a_large_schema_at_once_shares_it(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = [large("a"), large("b")]
    # Room for one of them.
    monkeypatch.setattr(parsing, "PARSED_MAX_CHARACTERS", LARGE_CHARACTERS * 3 // 2)
    parser = Parser(State())

    async def scenario() -> None:
        for schema in schemas * 2:
            await asyncio.gather(*(parser.prepare(schema, "s", new=False, normalise=False) for _ in range(CLIENTS)))
            first = parser.parse(schema, "s")
            assert parser.parse(schema, "s") is first, "it was not kept"

    asyncio.run(scenario())


def test_what_was_parsed_before_references_changed_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[Schema] = []
    parse = parsing._parsed

    def counted(schema: Schema, texts: dict[str, str], *, new: bool, normalise: bool) -> ParsedSchema:
        parsed.append(schema)
        return parse(schema, texts, new=new, normalise=normalise)

    monkeypatch.setattr(parsing, "_parsed", counted)
    parser, schema = Parser(State()), large("a")

    async def scenario() -> None:
        preparing = asyncio.create_task(parser.prepare(schema, "s", new=False, normalise=False))
        await asyncio.sleep(0)
        parser.clear()
        await preparing
        parser.parse(schema, "s")
        assert parsed == [schema] * 2

    asyncio.run(scenario())
