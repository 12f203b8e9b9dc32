"""Puts the types in place whose names were used before they were complete: recursion, and definitions that come later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

from schema_registry.formats.avro.complaint import excerpt, refuse
from schema_registry.formats.avro.defaults import DefaultRules
from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    Field,
    MapType,
    Name,
    NamedType,
    RecordType,
    UnionType,
    full_name,
    parts,
)
from schema_registry.formats.parsed_schema import NESTING_MAX_LEVELS, InvalidSchema

Holder: TypeAlias = ArrayType | MapType | UnionType | Field


@dataclass(eq=False, slots=True)
class Unresolved(RecordType):
    """A name whose type is not complete where it is used. Until the end of the text Avro sees a record without fields in it.

    Its own name is the place where it stands, so that it is never the same as another type.
    """

    wanted: str = ""

    @classmethod
    def at(cls, path: str, wanted: str) -> Self:
        return cls(Name(path, None, path), None, False, {}, (), {}, None, wanted)


def resolve(
    root: AvroType, holders: Iterable[Holder], known: Mapping[str, NamedType], *, checks_defaults: bool
) -> None:
    """Exchange what is unresolved in the holders, and check what could not be checked before."""
    resolved(root, known)
    waiting = list(holders)
    if waiting and checks_defaults:
        walk = _DefaultWalk(known)
        for a_type in (*known.values(), root):
            walk.begin(a_type)
    for holder in waiting:
        _complete(holder, known)


def check_union(union: UnionType, path: str) -> None:
    seen: set[str] = set()
    for branch in union.branches:
        name = full_name(branch)
        if isinstance(branch, UnionType):
            refuse("Nested union", path, "put the branches of the inner union into the outer one")
        if name in seen:
            refuse(
                f"Duplicate in union:{name}", path, "a union holds each type once; remove one, or give it another name"
            )
        seen.add(name)


def refuse_default(field: Field, path: str) -> None:
    what = f"Invalid default for field {field.name}: {excerpt(field.default)} not a {full_name(field.type)}"
    refuse(what, path, "take a default of the field's type, or of one of the types in its union")


def _complete(holder: Holder, known: Mapping[str, NamedType]) -> None:
    match holder:
        case ArrayType():
            holder.items = resolved(holder.items, known)
        case MapType():
            holder.values = resolved(holder.values, known)
        case Field():
            holder.type = resolved(holder.type, known)
        case UnionType():
            path = next(branch.name.full for branch in holder.branches if isinstance(branch, Unresolved))
            holder.branches = [resolved(branch, known) for branch in holder.branches]
            check_union(holder, path)


def resolved(a_type: AvroType, known: Mapping[str, NamedType]) -> AvroType:
    if not isinstance(a_type, Unresolved):
        return a_type
    found = known.get(a_type.wanted)
    if not found:
        advice = "define it in the schema, write its whole name with the namespace, or register it and add a reference"
        refuse(f"Undefined schema: {a_type.wanted}", a_type.name.full, advice)
    return found


class _DefaultWalk:
    """Checks defaults once more, now that all types are known, in the order in which Avro completes records.

    The order decides: a record that is not complete yet cannot be the type of a default. Avro goes from type to type, anew for each
    name that it has to resolve, and completes a record as soon as it comes back to it, even if it was still busy with it before.
    """

    def __init__(self, known: Mapping[str, NamedType]) -> None:
        self._known = known
        self._rules = DefaultRules(lambda a_type: resolved(a_type, known))
        self._begun: set[int] = set()
        self._complete: set[int] = set()

    def begin(self, a_type: AvroType, level: int = 0) -> None:
        self._visit(a_type, set(), level)

    def _visit(self, a_type: AvroType, visited: set[int], level: int) -> None:
        if level > NESTING_MAX_LEVELS:
            raise InvalidSchema(f"types hold one another more than {NESTING_MAX_LEVELS} levels deep")
        if id(a_type) in visited or id(a_type) in self._complete:
            return
        visited.add(id(a_type))
        if isinstance(a_type, Unresolved):
            wanted = resolved(a_type, self._known)
            if id(wanted) not in self._begun:
                self.begin(wanted, level + 1)
        elif isinstance(a_type, RecordType):
            self._visit_record(a_type, visited, level)
        else:
            for part in reversed(parts(a_type)):
                self._visit(part, visited, level + 1)

    def _visit_record(self, record: RecordType, visited: set[int], level: int) -> None:
        self._begun.add(id(record))
        self._rules.begin(record)
        for field in record.fields.values():
            self._visit(field.type, visited, level + 1)
        if id(record) not in self._complete:
            for field in record.fields.values():
                if field.has_default and not self._rules.fits(field.default, field.type):
                    refuse_default(field, record.name.full)
            self._complete.add(id(record))
            self._rules.finish(record)
