"""Avro schemas as the registry sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, Self

from schema_registry.formats.avro import names
from schema_registry.formats.avro.compatibility import incompatibilities
from schema_registry.formats.avro.explanation import explain
from schema_registry.formats.avro.normal_form import print_normal_form
from schema_registry.formats.avro.parser import Parser
from schema_registry.formats.avro.printer import print_type
from schema_registry.formats.avro.types import AvroType, RecordType, full_name
from schema_registry.formats.difference import Difference, Policy, Roles
from schema_registry.formats.parsed_schema import SCHEMA_MAX_CHARACTERS, InvalidSchema, ParsedSchema
from schema_registry.schema import AVRO

RESOLVED: Final = "resolved"
"""The form in which the types of references are written out."""


class AvroSchema(ParsedSchema):
    schema_type: ClassVar[str] = AVRO

    def __init__(
        self, root: AvroType, references: Mapping[str, str], known_names: frozenset[str], *, new: bool
    ) -> None:
        self._root = root
        self._references = dict(references)
        self._known_names = known_names
        self._new = new
        self._canonical = print_type(root, known_names)

    @classmethod
    def parse(cls, text: str, references: Mapping[str, str] | None = None, *, new: bool = False) -> Self:
        """Names and defaults are checked in full when the schema is new; what is stored passed the rules of its time."""
        if len(text) > SCHEMA_MAX_CHARACTERS:
            raise InvalidSchema(f"the schema has {len(text)} characters; at most {SCHEMA_MAX_CHARACTERS} are allowed")
        references = references or {}
        parser = Parser(names.strict if new else names.anything, checks_defaults=new)
        known_names = frozenset(full_name(_parse_reference(parser, *reference)) for reference in references.items())
        root = parser.parse(text)
        if not new:
            names.check_stored(root)
        return cls(root, references, known_names, new=new)

    @property
    def canonical(self) -> str:
        return self._canonical

    @property
    def name(self) -> str | None:
        return self._root.name.full if isinstance(self._root, RecordType) else None

    @property
    def resolved(self) -> str:
        return print_type(self._root)

    @property
    def field_names(self) -> frozenset[str]:
        return frozenset(self._root.fields) if isinstance(self._root, RecordType) else frozenset()

    def normalised(self) -> Self:
        return self.parse(print_normal_form(self._root, self._known_names), self._references, new=self._new)

    def formatted(self, form: str) -> str:
        """A form that Avro does not have gives the canonical text, as Confluent's registry does: clients may ask for newer ones."""
        return self.resolved if form.lower() == RESOLVED else self._canonical

    def differences(self, writer: Self, policy: Policy = Policy.STRICT, roles: Roles | None = None) -> list[Difference]:
        """Avro knows one way of comparing; the policy does not matter."""
        return [explain(found, roles or Roles()) for found in incompatibilities(self._root, writer._root)]


def _parse_reference(parser: Parser, name: str, text: str) -> AvroType:
    try:
        return parser.parse(text)
    except InvalidSchema as error:
        raise InvalidSchema(f"the referenced schema {name} cannot be read: {error}") from error
