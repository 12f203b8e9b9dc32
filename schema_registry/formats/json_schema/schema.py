"""JSON Schema as a format of the registry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Self

from schema_registry.formats.difference import Difference, Policy, Roles
from schema_registry.formats.json_schema.classic import ClassicReader
from schema_registry.formats.json_schema.differ import ComparisonTooLong, Differ
from schema_registry.formats.json_schema.draft import Draft
from schema_registry.formats.json_schema.explanations import explain, explain_giving_up
from schema_registry.formats.json_schema.modern import ModernReader
from schema_registry.formats.json_schema.node import Node
from schema_registry.formats.json_schema.resolution import Library
from schema_registry.formats.json_schema.rules import is_compatible
from schema_registry.formats.json_text import Dialect, JsonValue, parse, print_compact
from schema_registry.formats.parsed_schema import InvalidSchema, ParsedSchema

_DIALECT = Dialect(non_numbers=True)


class JsonSchema(ParsedSchema):
    schema_type: ClassVar[str] = "JSON"

    def __init__(self, value: JsonValue, references: Mapping[str, str]) -> None:
        self._value = value
        self._references = references
        self._root: Node | None = None

    @classmethod
    def parse(cls, text: str, references: Mapping[str, str] | None = None, *, new: bool = False) -> Self:
        """What is not new is understood in full only when it is compared: the registry keeps schemas that nobody can use."""
        schema = cls(parse(text, _DIALECT), references or {})
        if new:
            schema.understood()
        return schema

    @cached_property
    def canonical(self) -> str:
        return print_compact(self._value)

    @property
    def name(self) -> str | None:
        title = self._value.get("title") if isinstance(self._value, dict) else None
        return title if title is None or isinstance(title, str) else print_compact(title)

    @property
    def field_names(self) -> frozenset[str]:
        properties = self._value.get("properties") if isinstance(self._value, dict) else None
        return frozenset(properties) if isinstance(properties, dict) else frozenset()

    def normalised(self) -> Self:
        return type(self)(_sorted(self._value), self._references)

    def formatted(self, form: str) -> str:
        """There is one form; others are ignored, so that clients may ask for those of later registries."""
        return self.canonical

    def differences(self, writer: Self, policy: Policy = Policy.STRICT, roles: Roles | None = None) -> list[Difference]:
        roles = roles or Roles()
        try:
            findings = Differ(policy).compare(writer.understood(), self.understood())
        except ComparisonTooLong:
            return [explain_giving_up(roles)]
        return [explain(finding, roles) for finding in findings if not is_compatible(finding.rule, policy)]

    def understood(self) -> Node:
        """The schema as typed nodes, read once; InvalidSchema says where it is no schema, or refers to nothing."""
        if self._root is None:
            self._root = self._read()
        return self._root

    def _read(self) -> Node:
        if not isinstance(self._value, (dict, bool)):
            kind = "an array" if isinstance(self._value, list) else f"the value {print_compact(self._value)}"
            raise InvalidSchema(f"Invalid JSON schema: expected an object or boolean at the root, found {kind}")
        library = Library(self._value, self._references)
        reader = ModernReader(library) if library.document.draft is Draft.MODERN else ClassicReader(library)
        return reader.read_root()


def _sorted(value: JsonValue) -> JsonValue:
    """Members by name, in the order of UTF-16 as Java sorts strings."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value, key=lambda name: name.encode("utf-16-be"))}
    return [_sorted(element) for element in value] if isinstance(value, list) else value
