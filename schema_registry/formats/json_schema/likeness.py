"""Tells whether two subschemas of a union say the same, so that one of them is superfluous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from schema_registry.formats.json_schema.node import EnumNode, Node
from schema_registry.formats.json_schema.scalars import frozen

_NOT_SAID = frozenset({"source", "has_default", "generated", "target"})


class Likeness:
    """Gives schemas that say the same the same number. References count by their text, not by what they lead to."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._of_node: dict[int, int] = {}

    def distinct(self, nodes: Iterable[Node]) -> list[Node]:
        """The nodes without those that repeat an earlier one."""
        first: dict[int, Node] = {}
        for node in nodes:
            first.setdefault(self._number(node), node)
        return list(first.values())

    def _number(self, node: Node) -> int:
        waiting = [node]
        while waiting:
            unknown = [child for child in _children(waiting[-1]) if id(child) not in self._of_node]
            if unknown:
                waiting.extend(unknown)
            else:
                known = waiting.pop()
                self._of_node[id(known)] = self._numbers.setdefault(self._said_by(known), len(self._numbers))
        return self._of_node[id(node)]

    def _said_by(self, node: Node) -> object:
        if isinstance(node, EnumNode):
            return (EnumNode, node.title, node.description, frozenset(map(frozen, node.values)))
        return (type(node), *map(self._said, _parts(node)))

    def _said(self, value: object) -> object:
        if isinstance(value, Node):
            return self._of_node[id(value)]
        if isinstance(value, Mapping):
            return frozenset((name, self._said(member)) for name, member in value.items())
        if isinstance(value, (list, tuple)):
            return tuple(map(self._said, value))
        return (type(value), value)


def _parts(node: Node) -> list[object]:
    return [getattr(node, entry.name) for entry in fields(node) if entry.name not in _NOT_SAID]


def _children(node: Node) -> list[Node]:
    """The nodes within a node, one level down."""
    children: list[Node] = []
    for part in _parts(node):
        members = part.values() if isinstance(part, Mapping) else part if isinstance(part, tuple) else (part,)
        children.extend(member for member in members if isinstance(member, Node))
    return children
