"""A place in a schema document, and typed access to the keywords there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NoReturn

from schema_registry.formats.json_schema.draft import Draft
from schema_registry.formats.json_schema.node import Number
from schema_registry.formats.json_schema.uri import resolve
from schema_registry.formats.json_text import JsonValue
from schema_registry.formats.parsed_schema import InvalidSchema

INTEGER_MAX = 2**31 - 1
"""Lengths and counts are 32-bit integers for Confluent, and so for every client that shares a subject with it."""


@dataclass(frozen=True, eq=False)
class Document:
    """A JSON text with schemas in it. `name` tells people which: empty for the schema itself, else that of the reference."""

    root: JsonValue
    draft: Draft
    name: str = ""
    uri: str = ""

    def top(self) -> Place:
        return Place(self, self.root, based(self.draft, self.uri, self.root), ())

    @cached_property
    def identified(self) -> Mapping[str, Place]:
        """All subschemas with an identifier or an anchor, by that as written and as resolved."""
        found: dict[str, Place] = {}
        passed_over = ("enum", "const") if self.draft is Draft.MODERN else ()
        waiting = [self.top()]
        while waiting:
            place = waiting.pop()
            for name in place.names():
                found.setdefault(name, place)
            waiting.extend(child for name, child in place.children() if name not in passed_over)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """`base`: the URI against which references from here are resolved. `path`: the way from the document's root."""

    document: Document
    value: JsonValue
    base: str
    path: tuple[str, ...]

    @property
    def draft(self) -> Draft:
        return self.document.draft

    def child(self, segment: str) -> Place:
        value = self.value[segment] if isinstance(self.value, dict) else self._element(segment)
        return Place(self.document, value, based(self.draft, self.base, value), (*self.path, segment))

    def children(self) -> Iterator[tuple[str, Place]]:
        """The members of an object or the elements of an array."""
        if isinstance(self.value, dict):
            for name in self.value:
                yield name, self.child(name)
        elif isinstance(self.value, list):
            for index in range(len(self.value)):
                yield str(index), self.child(str(index))

    def names(self) -> list[str]:
        """The identifier and the anchors of the schema here."""
        if not isinstance(self.value, dict):
            return []
        names: list[str] = []
        identifier = self.value.get(self.draft.id_keyword)
        if isinstance(identifier, str):
            names += [identifier, self.base, self.base.removesuffix("#")]
        if self.draft is Draft.MODERN:
            for anchor in (self.value.get("$anchor"), self.value.get("$dynamicAnchor")):
                if isinstance(anchor, str):
                    names += [f"#{anchor}", resolve(self.base, f"#{anchor}")]
        return names

    def has(self, keyword: str) -> bool:
        return isinstance(self.value, dict) and keyword in self.value

    def has_any(self, keywords: tuple[str, ...]) -> bool:
        return any(self.has(keyword) for keyword in keywords)

    def string(self, keyword: str) -> str | None:
        if not self.has(keyword):
            return None
        place = self.child(keyword)
        return place.value if isinstance(place.value, str) else place.refuse("a string")

    def boolean(self, keyword: str) -> bool | None:
        if not self.has(keyword):
            return None
        place = self.child(keyword)
        return place.value if isinstance(place.value, bool) else place.refuse("true or false")

    def number(self, keyword: str) -> Number | None:
        number = self.number_if_any(keyword)
        if number is None and self.has(keyword):
            self.child(keyword).refuse("a number")
        return number

    def number_if_any(self, keyword: str) -> Number | None:
        """Something else than a number counts as nothing."""
        value = self.child(keyword).value if self.has(keyword) else None
        return value if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else None

    def integer(self, keyword: str) -> int | None:
        value = self.number(keyword)
        if value is None:
            return None
        if self.draft is Draft.MODERN and not isinstance(value, int) and abs(value) <= INTEGER_MAX:
            return int(value)
        if not isinstance(value, int) or abs(value) > INTEGER_MAX:
            self.child(keyword).refuse(f"an integer of at most {INTEGER_MAX}, written without a fraction")
        return value

    def object(self, keyword: str) -> Place | None:
        if not self.has(keyword):
            return None
        place = self.child(keyword)
        return place if isinstance(place.value, dict) else place.refuse("an object")

    def array(self, keyword: str) -> Place | None:
        if not self.has(keyword):
            return None
        place = self.child(keyword)
        return place if isinstance(place.value, list) else place.refuse("an array")

    def strings(self) -> tuple[str, ...]:
        """The elements of an array of strings."""
        if not isinstance(self.value, list):
            self.refuse("an array of strings")
        return tuple(
            element if isinstance(element, str) else self.child(str(index)).refuse("a string")
            for index, element in enumerate(self.value)
        )

    def refuse(self, wanted: str) -> NoReturn:
        raise InvalidSchema(f"{self}: expected {wanted}, found {_kind(self.value)}")

    def __str__(self) -> str:
        return f"{self.document.name}#/{'/'.join(self.path)}"

    def _element(self, segment: str) -> JsonValue:
        assert isinstance(self.value, list), "only objects and arrays have children"
        return self.value[int(segment)]


def based(draft: Draft, base: str, value: JsonValue) -> str:
    """The base below a value: its own identifier, if it has one."""
    identifier = value.get(draft.id_keyword) if isinstance(value, dict) else None
    return resolve(base, identifier) if isinstance(identifier, str) else base


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return f"the string {value[:40]!r}"
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list) else f"the number {value}"
