"""Types of Avro schemas that have names, and where they are described."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

NAMED_KINDS: Final = ("record", "error", "enum", "fixed")


class AvroNames:
    """The named types of schemas by full name. Their descriptions have the full name, too."""

    def __init__(self, schemas: Sequence[Any]) -> None:
        self._found: dict[str, dict[str, Any]] = {}
        for each in schemas:
            self._collect(each, "")

    def _collect(self, described: Any, space: str) -> None:
        if isinstance(described, list):
            for each in described:
                self._collect(each, space)
        if not isinstance(described, dict):
            return
        if described["type"] in NAMED_KINDS:
            full = full_name(described, space)
            space = full.rpartition(".")[0]
            self._found.setdefault(full, {**described, "name": full})
        for each in described.get("fields", ()):
            self._collect(each["type"], space)
        for word in ("type", "items", "values"):
            self._collect(described.get(word), space)

    def named(self, described: Any, space: str) -> dict[str, Any] | None:
        """The description of a type that has a name, given that or the name alone; None for other types."""
        if isinstance(described, dict):
            kind = described["type"]
            return self._found[full_name(described, space)] if kind in NAMED_KINDS else self.named(kind, space)
        if not isinstance(described, str):
            return None
        full = f"{space}.{described}" if space and "." not in described else described
        return self._found.get(full) or self._found.get(described)

    def branch(self, described: Any, space: str) -> str:
        """The name by which the codec knows a type in a union."""
        named = self.named(described, space)
        if named is not None:
            return str(named["name"])
        return described if isinstance(described, str) else self.branch(described["type"], space)


def parsed(text: str, referenced: Sequence[str]) -> tuple[Any, AvroNames]:
    """A schema, and the names that it can use: its own and those of the texts that it refers to."""
    schema = json.loads(text)
    return schema, AvroNames([*map(json.loads, referenced), schema])


def is_null(described: Any) -> bool:
    return bool(described in ("null", {"type": "null"}))


def full_name(described: Mapping[str, Any], space: str) -> str:
    name: str = described["name"]
    if "." in name:
        return name
    namespace = described.get("namespace", space)
    return f"{namespace}.{name}" if namespace else name
