"""Which types and extension fields a name can mean at a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schema_registry.formats.protobuf.elements import Extend, Field, Message, ProtoFile
from schema_registry.formats.protobuf.type_table import DeclaredType, TypeTable


class Scope:
    """A place in a file, from which names are looked up: first in the innermost message, then outwards.

    All files are seen, whether they are imported or not: so does Confluent's registry when it normalises.
    """

    def __init__(self, table: TypeTable, extensions: Mapping[str, Field]) -> None:
        self._table = table
        self._extensions = extensions
        self._names: list[str] = []

    @classmethod
    def of(cls, file: ProtoFile, imports: Iterable[ProtoFile]) -> Scope:
        imported = list(imports)
        return cls(TypeTable.of(file, imported), _extension_fields([*imported, file]))

    def of_import(self, file: ProtoFile) -> Scope:
        """The scope of one of the imports."""
        return Scope(self._table.from_package(file.package or ""), self._extensions)

    def enter(self, name: str) -> None:
        self._names.append(name)

    def leave(self) -> None:
        self._names.pop()

    def type_named(self, name: str) -> DeclaredType | None:
        return self._table.find(name, tuple(self._names))

    def extension_named(self, name: str) -> tuple[str, Field] | None:
        """The extension field, with its full name before it."""
        if name.startswith("."):
            candidates = [name[1:]]
        else:
            parts = [*filter(None, self._table.package.split(".")), *self._names]
            candidates = [".".join((*parts[:length], name)) for length in range(len(parts), -1, -1)]
        found = next((full_name for full_name in candidates if full_name in self._extensions), None)
        return None if found is None else (found, self._extensions[found])

    def extension_field(self, full_name: str) -> Field | None:
        return self._extensions.get(full_name.removeprefix("."))


def _extension_fields(files: Iterable[ProtoFile]) -> Mapping[str, Field]:
    fields: dict[str, Field] = {}
    for file in files:
        package = f"{file.package}." if file.package else ""
        _collect(fields, package, file.extends)
        waiting = [(package, message) for message in file.messages]
        while waiting:
            prefix, message = waiting.pop()
            inner = f"{prefix}{message.name}."
            _collect(fields, inner, message.extends)
            waiting += [(inner, nested) for nested in message.types if isinstance(nested, Message)]
    return fields


def _collect(fields: dict[str, Field], prefix: str, extends: Iterable[Extend]) -> None:
    for extend in extends:
        for field in extend.fields:
            fields[prefix + field.name] = field
