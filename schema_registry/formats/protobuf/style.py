"""What a text shows of a file, and in which order: everything as it was written, or less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schema_registry.formats.protobuf.elements import (
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    OneOf,
    Option,
    OptionValue,
    Reserved,
    Syntax,
)
from schema_registry.formats.protobuf.scalars import check_map_key

OWN_OPTIONS_PREFIX: Final = "confluent."
"""Custom options of this package carry the registry's own metadata, so that they stay where other custom options go."""


class Style:
    """Everything, as it was written: the canonical text. Each method is asked for what to print instead of what it is given."""

    shows_extensions = True

    def enter(self, name: str) -> None:
        """The body of a message or enum begins."""

    def leave(self) -> None:
        """It ends."""

    def syntax(self, syntax: Syntax | None) -> Syntax | None:
        return syntax

    def imports(self, paths: Sequence[str]) -> Sequence[str]:
        return paths

    def options(self, options: Sequence[Option]) -> Sequence[Option]:
        return options

    def types(self, types: Sequence[Message | Enum]) -> Sequence[Message | Enum]:
        return types

    def extends(self, extends: Sequence[Extend]) -> Sequence[Extend]:
        return extends

    def reserved(self, reserved: Sequence[Reserved]) -> Sequence[Reserved]:
        return reserved

    def constants(self, constants: Sequence[EnumConstant]) -> Sequence[EnumConstant]:
        return constants

    def fields(self, fields: Sequence[Field]) -> Sequence[Field]:
        return fields

    def field(self, field: Field) -> Field:
        if field.map_type is not None:
            check_map_key(field.map_type)
        return field

    def oneofs(self, oneofs: Sequence[OneOf]) -> Sequence[OneOf]:
        return oneofs

    def groups(self, groups: Sequence[Group]) -> Sequence[Group]:
        return groups

    def extensions(self, extensions: Sequence[Extensions]) -> Sequence[Extensions]:
        return extensions

    def type_name(self, name: str) -> str:
        return name

    def number(self, text: str) -> str:
        return text

    def entries(self, message: Mapping[str, OptionValue]) -> Mapping[str, OptionValue]:
        return message

    def list_value(self, values: tuple[OptionValue, ...]) -> OptionValue:
        """A list in a message of the text format."""
        return values


class WithoutExtensions(Style):
    """Neither extensions nor custom options, so that a reader needs no file that only declares those."""

    shows_extensions = False

    def options(self, options: Sequence[Option]) -> Sequence[Option]:
        return [one for one in options if not one.custom or one.name.startswith(OWN_OPTIONS_PREFIX)]
