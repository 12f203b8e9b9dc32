"""Compares limits: keywords with a number, of which a change in one direction is harmless."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from schema_registry.formats.json_schema.finding import MISSING, Finding
from schema_registry.formats.json_schema.node import Number
from schema_registry.formats.json_schema.rules import Rule


@dataclass(frozen=True, slots=True)
class Bound:
    """A keyword, and the start of the names of its rules."""

    keyword: str
    rules: str

    def compare(self, original: Number | None, update: Number | None) -> list[Finding]:
        if original is None and update is None:
            return []
        if original is None or update is None:
            change = "ADDED" if original is None else "REMOVED"
        elif double(original) == double(update):
            return []
        else:
            change = "INCREASED" if double(original) < double(update) else "DECREASED"
        return [
            Finding(
                Rule(f"{self.rules}_{change}"),
                (self.keyword,),
                MISSING if original is None else original,
                MISSING if update is None else update,
            )
        ]


def double(number: Number) -> float:
    """Limits are compared as doubles, in which some numbers that differ are one."""
    return float(Decimal(number))
