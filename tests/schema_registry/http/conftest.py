"""What tests of the HTTP interface share: a context for each test, so that ids begin at 1 and nobody meets anybody else's subjects."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from tests.registry import Answer, RegistryProcess


def record(name: str, *fields: tuple[str, object] | tuple[str, object, object]) -> str:
    """An Avro record; a third part of a field is its default."""
    written = [
        {"name": field[0], "type": field[1], **({"default": field[2]} if len(field) > 2 else {})} for field in fields
    ]
    return json.dumps({"type": "record", "name": name, "fields": written}, separators=(",", ":"))


class Space:
    """One context of a registry."""

    def __init__(self, registry: RegistryProcess, name: str) -> None:
        self.registry = registry
        self.name = name
        self.prefix = f":{name}:"

    def ask(self, method: str, path: str, body: object = None, *, modern: bool = True) -> Answer:
        return self.registry.ask(method, f"/contexts/{self.name}{path}", body, modern=modern)

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.raw
        return answer.body

    def register(self, subject: str, schema: str, schema_type: str = "AVRO", **members: object) -> int:
        """Register a schema and return its id."""
        body = {"schema": schema, "schemaType": schema_type, **members}
        answer = self.ask("POST", f"/subjects/{subject}/versions", body)
        assert answer.status == 200, answer.raw
        schema_id = answer.body["id"]
        assert isinstance(schema_id, int)
        return schema_id


@pytest.fixture
def space(registry: RegistryProcess) -> Space:
    return Space(registry, f".test-{secrets.token_hex(4)}")
