"""The rules that a schema must keep which somebody registers now, as compilers enforce them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.buildable import check_buildable
from schema_registry.formats.protobuf.elements import (
    TAG_MAX,
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Group,
    Label,
    Message,
    OneOf,
    Position,
    ProtoFile,
    Range,
    Reserved,
    Syntax,
)
from schema_registry.formats.protobuf.scope import Scope

RESERVED_BY_PROTOBUF: Final = Range(19_000, 19_999)
"""The implementation of Protobuf keeps these numbers for itself."""


def check(file: ProtoFile, imports: Mapping[str, ProtoFile], scope: Scope) -> None:
    """InvalidSchema tells of the first rule that the file breaks."""
    proto3 = file.syntax is Syntax.PROTO3
    _check_distinct("type", file.package or "the file", file.types)
    declared = [(_joined(file.package, one.name), one) for one in file.types]
    # The list grows by what is nested while it is gone through.
    for name, one in declared:
        if isinstance(one, Enum):
            _check_enum(name, one, proto3)
        else:
            _check_message(name, one, proto3)
            declared += [(_joined(name, nested.name), nested) for nested in one.types]
    _check_extended(file.extends)
    # The registry's descriptors leave groups out, so that they say nothing of a file with groups.
    if not any(isinstance(one, Message) and _groups(one) for _, one in declared):
        check_buildable(file, imports, scope)


def _check_message(name: str, message: Message, proto3: bool) -> None:
    groups = _groups(message)
    members: list[Field | Group] = [*message.all_fields(), *groups]
    _check_distinct("field", name, [*members, *message.oneofs])
    _check_distinct("type", name, [*message.types, *groups])
    _check_tags(name, members, message.reserved)
    for group in groups:
        _check_distinct("field", f"{name}.{group.name}", group.fields)
        _check_tags(f"{name}.{group.name}", group.fields, ())
    for oneof in message.oneofs:
        if not oneof.fields and not oneof.groups:
            raise InvalidSchema(f"oneof {oneof.name} of {name}{_where(oneof.position)} has no field; give it one")
    for member in message.fields:
        if member.default is not None and member.label is Label.REPEATED:
            raise InvalidSchema(
                f"field {member.name} of {name}{_where(member.position)} is repeated, so it cannot have a default; leave it out"
            )
    if proto3:
        _check_proto3(name, message, groups)
    for reserved in message.reserved:
        _check_ranges(name, reserved)
    for extensions in message.extensions:
        _check_ranges(name, extensions)
    _check_extended(message.extends)


def _check_ranges(name: str, declared: Reserved | Extensions) -> None:
    for value in declared.values:
        if isinstance(value, Range) and not 1 <= value.start <= value.end <= TAG_MAX:
            raise InvalidSchema(
                f"{value.start} to {value.end} of {name}{_where(declared.position)} is no range of field numbers; "
                f"use numbers from 1 to {TAG_MAX}, the smaller one first"
            )


def _groups(message: Message) -> list[Group]:
    return [*message.groups, *(group for oneof in message.oneofs for group in oneof.groups)]


def _check_tags(name: str, members: Iterable[Field | Group], reserved: Iterable[Reserved]) -> None:
    kept = _Kept.of(reserved)
    seen: dict[int, str] = {}
    for member in members:
        where = _where(member.position)
        _check_tag(f"field {member.name} of {name}{where}", member.tag)
        first = seen.setdefault(member.tag, member.name)
        if first != member.name:
            raise InvalidSchema(
                f"fields {first} and {member.name} of {name}{where} have both the number {member.tag}; give one of them another"
            )
        kept.check(f"field {member.name} of {name}{where}", member.name, member.tag)


def _check_tag(what: str, tag: int) -> None:
    if not 1 <= tag <= TAG_MAX:
        raise InvalidSchema(f"{what} has the number {tag}; use one from 1 to {TAG_MAX}")
    if RESERVED_BY_PROTOBUF.start <= tag <= RESERVED_BY_PROTOBUF.end:
        raise InvalidSchema(
            f"{what} has the number {tag}; {RESERVED_BY_PROTOBUF.start} to {RESERVED_BY_PROTOBUF.end} are kept for the "
            "implementation of Protobuf, so use another"
        )


def _check_proto3(name: str, message: Message, groups: Iterable[Group]) -> None:
    for group in groups:
        raise InvalidSchema(
            f"group {group.name} of {name}{_where(group.position)}: proto3 has no groups; use a message"
        )
    for member in message.all_fields():
        if member.default is not None:
            raise InvalidSchema(
                f"field {member.name} of {name}{_where(member.position)} has a default; proto3 has none, so leave it out"
            )
    for extensions in message.extensions:
        raise InvalidSchema(
            f"{name} has extensions{_where(extensions.position)}; proto3 allows them for options alone, so leave them out"
        )


def _check_extended(extends: Iterable[Extend]) -> None:
    for extend in extends:
        for member in extend.fields:
            _check_tag(f"extension {member.name} of {extend.name}{_where(member.position)}", member.tag)


def _check_enum(name: str, enum: Enum, proto3: bool) -> None:
    where = _where(enum.position)
    if not enum.constants:
        raise InvalidSchema(f"enum {name}{where} has no value; give it at least one")
    first = enum.constants[0]
    if proto3 and first.tag != 0:
        raise InvalidSchema(
            f"the first value of enum {name}, {first.name}{_where(first.position)}, is {first.tag}; in proto3 it must be 0, "
            "which is the default"
        )
    _check_distinct("value", name, enum.constants)
    _check_constants(name, enum)


def _check_constants(name: str, enum: Enum) -> None:
    aliases = any(option.name == "allow_alias" for option in enum.options)
    kept = _Kept.of(enum.reserved)
    seen: dict[int, EnumConstant] = {}
    for constant in enum.constants:
        where = _where(constant.position)
        first = seen.setdefault(constant.tag, constant)
        if first is not constant and not aliases:
            raise InvalidSchema(
                f"values {first.name} and {constant.name} of enum {name}{where} are both {constant.tag}; if that is meant, "
                "say option allow_alias = true"
            )
        kept.check(f"value {constant.name} of enum {name}{where}", constant.name, constant.tag)


@dataclass(slots=True)
class _Kept:
    """The reserved names and numbers of a message or enum.

    The ranges are sorted by their start; for each, `ends` is the greatest end up to there.
    """

    names: set[str] = field(default_factory=set)
    ranges: list[Range] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, reserved: Iterable[Reserved]) -> _Kept:
        kept = cls()
        for value in (value for one in reserved for value in one.values):
            if isinstance(value, str):
                kept.names.add(value)
            else:
                kept.ranges.append(value)
        kept.ranges.sort(key=lambda one: one.start)
        kept.ends = list(accumulate((one.end for one in kept.ranges), max))
        return kept

    def check(self, what: str, name: str, tag: int) -> None:
        if name in self.names:
            raise InvalidSchema(f"{what} uses a reserved name; choose another, or take the name out of reserved")
        before = bisect_right(self.ranges, tag, key=lambda one: one.start)
        if before and self.ends[before - 1] >= tag:
            raise InvalidSchema(f"{what} uses the reserved number {tag}; choose another, or take it out of reserved")


def _check_distinct(
    kind: str, owner: str, members: Iterable[Field | Group | OneOf | EnumConstant | Message | Enum]
) -> None:
    seen: set[str] = set()
    for member in members:
        if member.name in seen:
            raise InvalidSchema(
                f"{owner} has more than one {kind} named {member.name}, again{_where(member.position)}; rename one of them"
            )
        seen.add(member.name)


def _where(position: Position) -> str:
    return f" at {position}" if position.line else ""


def _joined(package: str | None, name: str) -> str:
    return f"{package}.{name}" if package else name
