"""What the readers of all drafts share: they go down into subschemas, and come back later to those that were referred to."""

from __future__ import annotations

from abc import ABC, abstractmethod

from schema_registry.formats.json_schema.node import FalseNode, Node, Target, TrueNode
from schema_registry.formats.json_schema.place import Place
from schema_registry.formats.json_schema.resolution import Library
from schema_registry.formats.parsed_schema import InvalidSchema

SUBSCHEMA_MAX_LEVELS = 64
"""How deep schemas may lie within each other as they are written; references start anew. Each level
costs up to ten calls, and Python allows a thousand."""


class SchemaReader(ABC):
    def __init__(self, library: Library) -> None:
        self._library = library
        self._waiting: list[tuple[Target, Place]] = []
        self._level = 0

    def read_root(self) -> Node:
        """The whole schema, with every schema that it refers to."""
        root = self._read(self._library.document.top())
        while self._waiting:
            target, place = self._waiting.pop()
            target.node = self._read(place)
        return root

    @abstractmethod
    def _read_object(self, place: Place) -> Node:
        """The schema at a place where an object stands."""

    def _read(self, place: Place) -> Node:
        if isinstance(place.value, bool):
            return TrueNode(source=True) if place.value else FalseNode(source=False)
        if not isinstance(place.value, dict):
            place.refuse("a schema, which is an object or a boolean")
        if self._level == SUBSCHEMA_MAX_LEVELS:
            raise InvalidSchema(
                f"{place}: schemas lie more than {SUBSCHEMA_MAX_LEVELS} levels deep within each other; "
                "take inner ones out into definitions and refer to them"
            )
        self._level += 1
        node = self._read_object(place)
        self._level -= 1
        return node

    def _optional(self, place: Place, keyword: str) -> Node | None:
        return self._read(place.child(keyword)) if place.has(keyword) else None

    def _members(self, place: Place | None) -> dict[str, Node]:
        """The schemas in an object or an array, if there is one."""
        return {} if place is None else {name: self._read(child) for name, child in place.children()}

    def _read_later(self, place: Place) -> Target:
        target = Target()
        self._waiting.append((target, place))
        return target
