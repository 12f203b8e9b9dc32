"""A Protobuf schema: one file, and the files that it imports."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Final, Self

from schema_registry.formats.difference import Difference, Policy, Roles
from schema_registry.formats.parsed_schema import InvalidSchema, ParsedSchema
from schema_registry.formats.protobuf.descriptor_text import decoded, parse_descriptor
from schema_registry.formats.protobuf.descriptors import descriptor_of
from schema_registry.formats.protobuf.elements import Enum, Message, ProtoFile
from schema_registry.formats.protobuf.known import known_files
from schema_registry.formats.protobuf.normal_form import NormalForm
from schema_registry.formats.protobuf.parser import parse
from schema_registry.formats.protobuf.printer import print_file
from schema_registry.formats.protobuf.scope import Scope
from schema_registry.formats.protobuf.style import WithoutExtensions
from schema_registry.formats.protobuf.validity import check

SERIALIZED_NAME: Final = "default"
"""What a descriptor calls its own file: the registry knows imports by name, but not who imports them."""


class ProtobufSchema(ParsedSchema):
    schema_type: ClassVar[str] = "PROTOBUF"

    def __init__(self, file: ProtoFile, dependencies: Mapping[str, ProtoFile], canonical: str | None = None) -> None:
        self._file = file
        self._dependencies = dependencies
        self._canonical = print_file(file) if canonical is None else canonical

    @classmethod
    def parse(cls, text: str, references: Mapping[str, str] | None = None, *, new: bool = False) -> Self:
        file = _read(text)
        schema = cls(file, {name: _read(one) for name, one in (references or {}).items()})
        if new:
            scope = schema.scope()
            # Every type that is named must be there, and the normal form must be readable: printing it finds out.
            _read(print_file(file, NormalForm(scope)))
            check(file, schema.imports, scope)
        return schema

    @property
    def file(self) -> ProtoFile:
        return self._file

    @property
    def dependencies(self) -> Mapping[str, ProtoFile]:
        """The files of the references, by their names."""
        return self._dependencies

    @cached_property
    def imports(self) -> Mapping[str, ProtoFile]:
        """Everything that an import can name: the references, and the files that are always there."""
        return {**known_files(), **self._dependencies}

    @property
    def canonical(self) -> str:
        return self._canonical

    @property
    def name(self) -> str | None:
        """The full name of the first message, or of the first enum where there is no message."""
        file = self._effective_file()
        types: list[Message | Enum] = [*file.messages, *file.enums]
        names = [one.name for one in types]
        if not names:
            return None
        return f"{file.package}.{names[0]}" if file.package else names[0]

    @property
    def field_names(self) -> frozenset[str]:
        messages = self._effective_file().messages
        return frozenset(
            field.name
            for message in messages
            for field in (*message.fields, *(field for oneof in message.oneofs for field in oneof.fields))
        )

    def _effective_file(self) -> ProtoFile:
        """A file with nothing but one public import stands for the file that it imports."""
        file = self._file
        if file.types or file.imports or file.services or file.extends or len(file.public_imports) != 1:
            return file
        imported = self.imports.get(file.public_imports[0])
        return imported if imported is not None and imported.types else file

    def scope(self) -> Scope:
        """The outermost scope of the file."""
        return Scope.of(self._file, self.imports.values())

    def normalised(self) -> Self:
        text = print_file(self._file, NormalForm(self.scope()))
        return type(self)(_read(text), self._dependencies, text)

    def formatted(self, form: str) -> str:
        """`serialized` is the descriptor in base64; forms that nobody knows are the canonical text, as at Confluent's."""
        match form.lower():
            case "ignore_extensions":
                return print_file(self._file, WithoutExtensions())
            case "serialized":
                return base64.b64encode(self.descriptor()).decode("ascii")
            case _:
                return self._canonical

    def descriptor(self) -> bytes:
        """The file as a serialised google.protobuf.FileDescriptorProto."""
        return bytes(descriptor_of(self._file, SERIALIZED_NAME, self.scope(), self.imports).SerializeToString())

    def differences(self, writer: Self, policy: Policy = Policy.STRICT, roles: Roles | None = None) -> list[Difference]:
        # The comparison is written in terms of this class.
        from schema_registry.formats.protobuf.differ import differences

        return differences(self, writer, roles or Roles())


def _read(text: str) -> ProtoFile:
    """A file from its text, or else from its descriptor in base64."""
    try:
        return parse(text)
    except InvalidSchema as error:
        data = decoded(text)
        file = parse_descriptor(data) if data is not None else None
        if file is None:
            raise InvalidSchema(f"Could not parse Protobuf - {error}") from error
        return file
