"""What the registry asks of a schema, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

from schema_registry.formats.difference import Difference, Policy, Roles

SCHEMA_MAX_CHARACTERS = 5_000_000
"""A longer text is refused before it is parsed; Kafka would refuse its record anyway."""

NESTING_MAX_LEVELS = 200
"""How deep a schema may nest; each level costs stack."""


class InvalidSchema(Exception):
    """The text is no schema of its format: where, and why."""


class ParsedSchema(ABC):
    """A schema that was understood. Immutable: what is derived from it may be cached on it."""

    schema_type: ClassVar[str]
    """The name in the API: AVRO, JSON or PROTOBUF."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str, references: Mapping[str, str] | None = None, *, new: bool = False) -> Self:
        """Read a schema.

        `references`: the text of every schema that it refers to, directly or not, by the name of the reference; what others build on
        comes first. `new`: somebody registers it now, so that it is checked in full; stored schemas are taken as they are.
        InvalidSchema says what is wrong, with the line and column where there is one.
        """

    @property
    @abstractmethod
    def canonical(self) -> str:
        """The text that is stored, and that makes the schema's identity: exactly Confluent's."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The full name of the record, message or title, if it has one."""

    @property
    def resolved(self) -> str:
        """The canonical text with references written out, in formats that can do so: two schemas that mean the same share it."""
        return self.canonical

    @property
    def field_names(self) -> frozenset[str]:
        """The names of the fields at the top."""
        return frozenset()

    @abstractmethod
    def normalised(self) -> Self:
        """The same schema with everything in its place, so that two ways of writing it become one."""

    @abstractmethod
    def formatted(self, form: str) -> str:
        """The text in a form of this format (`resolved`, `serialized`…); the canonical one, or InvalidSchema, if there is no such form."""

    @abstractmethod
    def differences(self, writer: Self, policy: Policy = Policy.STRICT, roles: Roles | None = None) -> list[Difference]:
        """Why this schema cannot read what `writer` wrote; empty when it can."""
