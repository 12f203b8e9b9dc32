"""The normal form of a file: two ways of writing one schema become one text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import (
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Group,
    Label,
    Message,
    OneOf,
    Option,
    OptionValue,
    Range,
    Reserved,
    Syntax,
    excerpt,
)
from schema_registry.formats.protobuf.merged_option import merged, with_message_value
from schema_registry.formats.protobuf.numbers import normal_number
from schema_registry.formats.protobuf.scalars import SCALARS, check_map_key
from schema_registry.formats.protobuf.scope import Scope
from schema_registry.formats.protobuf.style import Style

Tagged = TypeVar("Tagged", Field, Group)

_NAMES_LAST: Final = 2**31 - 1
"""Reserved names are sorted behind all reserved numbers."""


class NormalForm(Style):
    """Everything in its place: sorted by number or name, types by their full names, maps as maps, options merged."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def enter(self, name: str) -> None:
        self._scope.enter(name)

    def leave(self) -> None:
        self._scope.leave()

    def syntax(self, syntax: Syntax | None) -> Syntax | None:
        return syntax if syntax is Syntax.PROTO3 else None

    def imports(self, paths: Sequence[str]) -> Sequence[str]:
        return sorted(set(paths), key=_java_order)

    def types(self, types: Sequence[Message | Enum]) -> Sequence[Message | Enum]:
        """Without the messages that only stand for the entries of maps."""
        return [one for one in types if isinstance(one, Enum) or not self._is_map_entry(one)]

    def _is_map_entry(self, message: Message) -> bool:
        found = self._scope.type_named(message.name)
        return found is not None and isinstance(found.element, Message) and found.element.map_entry

    def extends(self, extends: Sequence[Extend]) -> Sequence[Extend]:
        fields: dict[str, list[Field]] = {}
        for extend in extends:
            if extend.fields:
                fields.setdefault(self.type_name(extend.name), []).extend(extend.fields)
        return [Extend(name, tuple(several)) for name, several in fields.items()]

    def reserved(self, reserved: Sequence[Reserved]) -> Sequence[Reserved]:
        values = [_unified(value) for one in reserved for value in one.values]
        return [Reserved((value,)) for value in sorted(values, key=_reserved_order)]

    def extensions(self, extensions: Sequence[Extensions]) -> Sequence[Extensions]:
        singles = [Extensions((_unified_range(value),), one.options) for one in extensions for value in one.values]
        return sorted(singles, key=lambda one: one.values[0].start)

    def constants(self, constants: Sequence[EnumConstant]) -> Sequence[EnumConstant]:
        return sorted(constants, key=lambda one: (one.tag, one.name))

    def fields(self, fields: Sequence[Field]) -> Sequence[Field]:
        return _by_tag(fields)

    def groups(self, groups: Sequence[Group]) -> Sequence[Group]:
        return _by_tag(groups)

    def oneofs(self, oneofs: Sequence[OneOf]) -> Sequence[OneOf]:
        filled = [replace(one, fields=tuple(_by_tag(one.fields))) for one in oneofs if one.fields]
        return sorted(filled, key=lambda one: one.fields[0].tag)

    def field(self, field: Field) -> Field:
        type_name = field.type
        types = field.map_type
        if types is None and type_name not in SCALARS:
            type_name = self.type_name(type_name)
            found = self._scope.type_named(type_name)
            types = found.map_type if found is not None else None
        if types is None:
            return replace(field, type=type_name)
        check_map_key(types)
        found = self._scope.type_named(types.value)
        value = f".{found.name}" if found is not None else types.value
        return replace(field, type=f"map<{types.key}, {value}>", label=None)

    def type_name(self, name: str) -> str:
        found = self._scope.type_named(name)
        if found is None:
            raise InvalidSchema(
                f"Could not resolve type: {excerpt(name)}; declare it, or import the file that declares it and give that file's schema "
                "as a reference named like the import"
            )
        return f".{found.name}"

    def number(self, text: str) -> str:
        return normal_number(text)

    def options(self, options: Sequence[Option]) -> Sequence[Option]:
        by_name: dict[str, list[Option]] = {}
        for option in sorted(map(self._qualified, options), key=lambda one: one.name):
            by_name.setdefault(option.name, []).append(option)
        return [one for name, several in by_name.items() for one in self._merged(name, several)]

    def _qualified(self, option: Option) -> Option:
        found = self._scope.extension_named(option.name) if option.custom else None
        return option if found is None else with_message_value(replace(option, name=found[0]))

    def _merged(self, name: str, options: list[Option]) -> Iterable[Option]:
        """One option for an extension field that is no list."""
        field = self._scope.extension_field(name)
        if field is None or field.label is Label.REPEATED:
            return options
        return [merged(options, self._scope, field)]

    def entries(self, message: Mapping[str, OptionValue]) -> Mapping[str, OptionValue]:
        qualified: dict[str, OptionValue] = {}
        for key, value in message.items():
            if value != ():
                qualified.setdefault(self._qualified_key(key), value)
        return dict(sorted(qualified.items()))

    def _qualified_key(self, key: str) -> str:
        if not (key.startswith("[") and key.endswith("]")):
            return key
        found = self._scope.extension_named(key[1:-1])
        return key if found is None else f"[{found[0]}]"

    def list_value(self, values: tuple[OptionValue, ...]) -> OptionValue:
        """The one value of a list stands for the list."""
        value: OptionValue = values
        while isinstance(value, tuple) and len(value) == 1:
            value = value[0]
        return value


def _by_tag(items: Sequence[Tagged]) -> Sequence[Tagged]:
    return sorted(items, key=lambda one: one.tag)


def _unified(value: str | Range) -> str | Range:
    return value if isinstance(value, str) else _unified_range(value)


def _unified_range(numbers: Range) -> Range:
    return replace(numbers, single=numbers.start == numbers.end)


def _reserved_order(value: str | Range) -> tuple[int, bytes]:
    if isinstance(value, str):
        return _NAMES_LAST, _java_order(value)
    text = str(value.start) if value.single else f"{value.start}..{value.end}"
    return value.start, _java_order(text)


def _java_order(text: str) -> bytes:
    """Java compares the 16-bit units of texts."""
    return text.encode("utf-16-be", "surrogatepass")
