"""Comparing two schemas without holding up everybody else.

A comparison may take seconds: every branch of a union is held against every other. Large schemas are compared on another
thread before somebody decides, and what was found is kept until then.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from schema_registry.formats.difference import Difference, Policy, Roles
from schema_registry.formats.parsed_schema import ParsedSchema
from schema_registry.turns import Turns

LARGE_CHARACTERS = 5_000
"""Two schemas with less text between them are compared at once; that takes some milliseconds at most."""

KEPT_MAX_CHARACTERS = 4_000_000
"""How much text the schemas of the comparisons that are kept may have; parsed, they take about ten times as much memory."""


@dataclass(frozen=True, slots=True, eq=False)
class _Comparison:
    """What was found, and between which schemas: they stay alive, so that no others can take their identity."""

    reader: ParsedSchema
    writer: ParsedSchema
    differences: list[Difference]

    @property
    def characters(self) -> int:
        return len(self.reader.canonical) + len(self.writer.canonical)


class Comparisons:
    """Compares schemas, and remembers what was found between large ones lately."""

    def __init__(self, turns: Turns) -> None:
        self._kept: OrderedDict[tuple[int, int, Policy, Roles], _Comparison] = OrderedDict()
        self._characters = 0
        self._turns = turns

    def differences(self, reader: ParsedSchema, writer: ParsedSchema, policy: Policy, roles: Roles) -> list[Difference]:
        kept = self._kept.get((id(reader), id(writer), policy, roles))
        return reader.differences(writer, policy, roles) if kept is None else kept.differences

    async def prepare(self, reader: ParsedSchema, writer: ParsedSchema, policy: Policy, roles: Roles) -> None:
        """Compare large schemas on another thread, so that `differences` need not."""
        if len(reader.canonical) + len(writer.canonical) < LARGE_CHARACTERS:
            return
        key = (id(reader), id(writer), policy, roles)
        async with self._turns:
            if key in self._kept:
                return
            differences = await asyncio.to_thread(reader.differences, writer, policy, roles)
            self._keep(key, _Comparison(reader, writer, differences))

    def _keep(self, key: tuple[int, int, Policy, Roles], comparison: _Comparison) -> None:
        self._kept[key] = comparison
        self._characters += comparison.characters
        while self._characters > KEPT_MAX_CHARACTERS and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._characters -= dropped.characters
