"""The types that the fields of a schema can name, and how a name finds one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import Enum, MapType, Message, ProtoFile, excerpt

FULL_NAME_MAX_CHARACTERS: Final = 1_000
"""The time to look a name up grows with the length of the names around it, and files have many names."""


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """A message or enum with its full name. `imported`: it stands in another file than the schema itself."""

    name: str
    package: str
    imported: bool
    element: Message | Enum

    @property
    def local_name(self) -> str:
        """The name without the package, which may change from one version of an import to the next."""
        return self.name.removeprefix(f"{self.package}.")

    @property
    def map_type(self) -> MapType | None:
        """The map that an entry message stands for: descriptors write `map<k, v>` as a repeated entry."""
        if not isinstance(self.element, Message) or not self.element.map_entry:
            return None
        types = {field.name: field.type for field in self.element.fields}
        return MapType(types["key"], types["value"]) if types.keys() >= {"key", "value"} else None


@dataclass(frozen=True, slots=True)
class TypeTable:
    """All types of a schema and its imports by their full names, seen from one package."""

    types: Mapping[str, DeclaredType]
    package: str

    @classmethod
    def of(cls, file: ProtoFile, imports: Iterable[ProtoFile]) -> TypeTable:
        types: dict[str, DeclaredType] = {}
        for imported in imports:
            _collect(types, imported.package or "", imported.types, imported=True)
        _collect(types, file.package or "", file.types, imported=False)
        return cls(types, file.package or "")

    def from_package(self, package: str) -> TypeTable:
        return replace(self, package=package)

    def find(self, name: str, scope: tuple[str, ...]) -> DeclaredType | None:
        """What a name means within the messages of `scope`: the innermost type that it fits, as in C++."""
        if name.startswith("."):
            return self.types.get(name[1:])
        parts = (*self.package.split("."), *scope) if self.package else scope
        for length in range(len(parts), -1, -1):
            found = self.types.get(".".join((*parts[:length], name)))
            if found is not None:
                return found
        return None

    def has_message(self, name: str, scope: tuple[str, ...]) -> bool:
        """Whether a name means a message that somebody wrote; entries of maps come and go with their fields."""
        found = self.find(name, scope)
        return found is not None and found.map_type is None

    def find_again(self, found: DeclaredType, scope: tuple[str, ...]) -> DeclaredType:
        """What Confluent takes for the message of a field: it looks for the full name once more from within `scope`.

        That is another type than the one found only if the names of packages and messages overlap: `acme.Order` seen from the package
        `com.acme.orders`, when there is a `com.acme.Order` too. The verdict is to be Confluent's there as well.
        """
        again = self.find(found.name, scope)
        return found if again is None or again is found else replace(again, name=found.name)


def _collect(types: dict[str, DeclaredType], package: str, top: Iterable[Message | Enum], *, imported: bool) -> None:
    waiting = [(package, element) for element in top]
    while waiting:
        outer, element = waiting.pop()
        name = f"{outer}.{element.name}" if outer else element.name
        if len(name) > FULL_NAME_MAX_CHARACTERS:
            raise InvalidSchema(
                f"the full name {excerpt(name)} has {len(name)} characters; up to {FULL_NAME_MAX_CHARACTERS} are understood,"
                " so shorten the package or the names of messages"
            )
        types[name] = DeclaredType(name, package, imported, element)
        if isinstance(element, Message):
            waiting += [(name, nested) for nested in element.types]
