"""Tells people what an incompatibility means: both sides, why it breaks readers, and what would help.

Of two schemas only the new one can still be changed. It reads in one direction and writes in the other, so that for every rule there
are two pieces of advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from schema_registry.formats.avro.compatibility import Incompatibility, Rule
from schema_registry.formats.avro.complaint import excerpt
from schema_registry.formats.avro.outline import field_outline, in_words, outline
from schema_registry.formats.avro.types import (
    AvroType,
    EnumType,
    FixedType,
    Kind,
    NamedType,
    RecordType,
    UnionType,
    full_name,
)
from schema_registry.formats.difference import Difference, Roles
from schema_registry.formats.json_text import JsonValue

RENAMED_MAX_FIELDS = 100
"""In records with more fields nobody looks for one that was renamed: it would be done for each field anew."""

_DESCRIPTIONS: Final[Mapping[Rule, str]] = {
    Rule.FIXED_SIZE_MISMATCH: "The size of FIXED type field at path '{path}' in the {reader} schema does not match with the {writer} schema",
    Rule.TYPE_MISMATCH: "The type (path '{path}') of a field in the {reader} schema does not match with the {writer} schema",
    Rule.NAME_MISMATCH: "The name of the schema has changed (path '{path}')",
    Rule.MISSING_ENUM_SYMBOLS: "The {reader} schema is missing enum symbols '{details}' at path '{path}' in the {writer} schema",
    Rule.MISSING_UNION_BRANCH: "The {reader} schema is missing a type inside a union field at path '{path}' in the {writer} schema",
    Rule.READER_FIELD_MISSING_DEFAULT_VALUE: "The field '{details}' at path '{path}' in the {reader} schema has no default value "
    "and is missing in the {writer} schema",
}
_EXAMPLES: Final[Mapping[Kind, JsonValue]] = {
    Kind.STRING: "",
    Kind.BYTES: "",
    Kind.INT: 0,
    Kind.LONG: 0,
    Kind.FLOAT: 0.0,
    Kind.DOUBLE: 0.0,
    Kind.BOOLEAN: False,
    Kind.NULL: None,
    Kind.ARRAY: [],
    Kind.MAP: {},
}
# Each reads the data of those before it.
_NUMBERS: Final = (Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE)
_READERS_FIRST: Final = "or set the compatibility level to BACKWARD and bring the new schema to the readers first"


class _Explanation(NamedTuple):
    """The advice for a new schema that reads old data, and for one whose data is read with the old schema."""

    why: Callable[[Incompatibility, Roles], str]
    fix_reader: Callable[[Incompatibility], str]
    fix_writer: Callable[[Incompatibility], str]


def explain(found: Incompatibility, roles: Roles) -> Difference:
    reader, writer = _sides(found)
    explanation = _EXPLANATIONS[found.rule]
    fix = explanation.fix_reader if roles.reader == Roles().reader else explanation.fix_writer
    why = explanation.why(found, roles)
    return Difference(found.rule.value, found.path, _message(found, roles), reader, writer, why, fix(found))


def _message(found: Incompatibility, roles: Roles) -> str:
    """Confluent's sentence."""
    if found.rule not in _DESCRIPTIONS:
        return f"Unexpected exception during compatibility check: {found.details}"
    description = _DESCRIPTIONS[found.rule].format(
        path=found.path, details=found.details, reader=roles.reader, writer=roles.writer
    )
    return f"{{errorType:'{found.rule.value}', description:'{description}', additionalInfo:'{found.details}'}}"


def _sides(found: Incompatibility) -> tuple[str, str | None]:
    if found.rule is Rule.READER_FIELD_MISSING_DEFAULT_VALUE and found.field:
        return excerpt(field_outline(found.field)), None
    if found.rule is Rule.AMBIGUOUS_FIELD and found.field and isinstance(found.writer, RecordType):
        matches = [name for name in (found.field.name, *found.field.aliases) if name in found.writer.fields]
        return excerpt(field_outline(found.field)), excerpt(
            [field_outline(found.writer.fields[name]) for name in matches]
        )
    return excerpt(outline(found.reader)), excerpt(outline(found.writer))


def _why_name(found: Incompatibility, roles: Roles) -> str:
    reader, writer = full_name(found.reader), full_name(found.writer)
    return (
        f'Avro finds the type of data by its name: a reader with the {roles.reader} schema knows "{reader}" '
        f'and does not take data of "{writer}" for it'
    )


def _fix_name_of_reader(found: Incompatibility) -> str:
    new, old = full_name(found.reader), full_name(found.writer)
    return f'keep the name "{old}", or add "aliases": ["{old}"] to "{new}" in the new schema'


def _fix_name_of_writer(found: Incompatibility) -> str:
    new, old = full_name(found.writer), full_name(found.reader)
    return f'keep the name "{old}" in the new schema; an alias of "{new}" does not help readers with the old one'


def _why_size(found: Incompatibility, roles: Roles) -> str:
    reader, writer = _size(found.reader), _size(found.writer)
    return (
        f"each value takes {writer} bytes in data of the {roles.writer} schema, and a reader with the {roles.reader} one "
        f"would take {reader} and lose its place"
    )


def _fix_size_of_reader(found: Incompatibility) -> str:
    name, size = full_name(found.reader), _size(found.writer)
    return f'set "size" of "{name}" to {size} in the new schema, or add a field with a default for the new size'


def _fix_size_of_writer(found: Incompatibility) -> str:
    name, size = full_name(found.writer), _size(found.reader)
    return f'set "size" of "{name}" to {size} in the new schema, and add a field of another type for the new size'


def _size(fixed: AvroType) -> int:
    assert isinstance(fixed, FixedType)
    return fixed.size


def _why_symbols(found: Incompatibility, roles: Roles) -> str:
    symbols, name = _missing_symbols(found), full_name(found.reader)
    return f'data of the {roles.writer} schema can hold {symbols}, which enum "{name}" of the {roles.reader} schema cannot show'


def _fix_symbols_of_reader(found: Incompatibility) -> str:
    symbols, name = _missing_symbols(found), full_name(found.reader)
    return (
        f'add {symbols} to the symbols of "{name}" in the new schema, or give the enum a "default" there, '
        "which stands for all unknown symbols"
    )


def _fix_symbols_of_writer(found: Incompatibility) -> str:
    symbols, name = _missing_symbols(found), full_name(found.writer)
    return (
        f'do not add {symbols} to "{name}" yet: first register a version in which the enum has a "default", which stands for all '
        f"unknown symbols, and add more in the next (a transitive level forbids that as well), {_READERS_FIRST}"
    )


def _missing_symbols(found: Incompatibility) -> str:
    return found.details.strip("[]")


def _why_default(found: Incompatibility, roles: Roles) -> str:
    assert found.field
    return (
        f'data of the {roles.writer} schema has no field "{found.field.name}", so that a reader with the {roles.reader} schema '
        "has nothing to put there"
    )


def _fix_default_of_reader(found: Incompatibility) -> str:
    assert found.field
    name, a_type = found.field.name, found.field.type
    place = f'field "{name}" in the new schema'
    if isinstance(a_type, UnionType) and any(branch.kind is Kind.NULL for branch in a_type.branches):
        fix = f'add "default": null to {place}; that it may be null does not make null its default'
    elif a_type.kind in _EXAMPLES:
        example = excerpt(_EXAMPLES[a_type.kind])
        fix = f'add a default to {place}, such as {example}, or null with a union type: ["null", {in_words(a_type)}]'
    else:
        fix = f'add a default to {place}, such as null with a union type: ["null", {in_words(a_type)}]'
    renamed = _renamed(found)
    return f'{fix}; if it is "{renamed}" under a new name, add "aliases": ["{renamed}"] instead' if renamed else fix


def _fix_default_of_writer(found: Incompatibility) -> str:
    assert found.field
    name, renamed = found.field.name, _renamed(found)
    fix = f'leave field "{name}" of type {in_words(found.field.type)} in the new schema'
    if renamed:
        fix += f', or give "{renamed}" this name again if it is the same field'
    return (
        f"{fix}; to drop it, first register a version in which it has a default, and leave it out of the next "
        f"(a transitive level forbids that as well), {_READERS_FIRST}"
    )


def _renamed(found: Incompatibility) -> str | None:
    """The one field of the same type that the writer alone has; None if there are several, or too many to look at."""
    reader, writer, field = found.reader, found.writer, found.field
    if not (isinstance(reader, RecordType) and isinstance(writer, RecordType) and field):
        return None
    if len(writer.fields) > RENAMED_MAX_FIELDS:
        return None
    wanted = full_name(field.type)
    left = [
        one.name for one in writer.fields.values() if one.name not in reader.fields and full_name(one.type) == wanted
    ]
    return left[0] if len(left) == 1 else None


def _why_type(found: Incompatibility, roles: Roles) -> str:
    reader, writer = found.reader, found.writer
    if _default_of_enum(found) is not None:
        return (
            f'data of the {roles.writer} schema has no such field, and the default of enum "{full_name(reader)}" is for unknown '
            "symbols only"
        )
    why = (
        f"a reader with the {roles.reader} schema expects {in_words(reader)} and cannot take {in_words(writer)} for it"
    )
    if reader.kind in _NUMBERS and writer.kind in _NUMBERS:
        return f"{why}: numbers become wider only, from int to long to float to double"
    return why


def _fix_type_of_reader(found: Incompatibility) -> str:
    new, old = found.reader, found.writer
    default = _default_of_enum(found)
    if default is not None:
        return f'add "default": "{default}" to the field itself in the new schema'
    if _in_union_of_writer(found):
        return f"make it a union in the new schema that has {in_words(old)}, too"
    fix = f"keep {in_words(old)} in the new schema"
    if new.kind in _NUMBERS and old.kind in _NUMBERS:
        wider = _NUMBERS[_NUMBERS.index(old.kind) + 1 :]
        return f"{fix}, or take a wider type: {_listed(wider)}" if wider else fix
    return f"{fix}, or make it a union of both types, or add a new field with a default and leave this one as it was"


def _fix_type_of_writer(found: Incompatibility) -> str:
    new, old = found.writer, found.reader
    if _default_of_enum(found) is not None:
        return f'leave the field of enum "{full_name(old)}" in the new schema'
    if _in_union_of_writer(found):
        return f"take {in_words(new)} out of the union in the new schema, {_READERS_FIRST}"
    fix = f"keep {in_words(old)} in the new schema"
    if new.kind in _NUMBERS and old.kind in _NUMBERS:
        narrower = _NUMBERS[: _NUMBERS.index(old.kind)]
        return f"{fix}, or take a narrower type: {_listed(narrower)}" if narrower else fix
    return f"{fix}, and add a new field for {in_words(new)}"


def _default_of_enum(found: Incompatibility) -> str | None:
    """Avro compares a record with the enum of a field that the record does not have; the default of the enum."""
    if isinstance(found.reader, EnumType) and isinstance(found.writer, RecordType):
        return found.reader.default
    return None


def _in_union_of_writer(found: Incompatibility) -> bool:
    """Paths end in a number where one type of a union was compared."""
    return found.path.rpartition("/")[2].isdecimal()


def _listed(kinds: tuple[Kind, ...]) -> str:
    return ", ".join(f'"{kind.value}"' for kind in kinds)


def _why_branch(found: Incompatibility, roles: Roles) -> str:
    name = in_words(_unread(found))
    return f"data of the {roles.writer} schema can hold {name} here, and no type of the {roles.reader} union reads it"


def _fix_branch_of_reader(found: Incompatibility) -> str:
    near = _like_unread(found)
    if near is not None:
        return (
            f"the union has {in_words(near)}, but its content differs: "
            "change it in the new schema so that it reads that of the old one"
        )
    return f"add {in_words(_unread(found))} to the union in the new schema"


def _fix_branch_of_writer(found: Incompatibility) -> str:
    near, name = _like_unread(found), in_words(_unread(found))
    if near is not None:
        return (
            f"the old union has {in_words(near)}, but its content differs: "
            f"change {name} in the new schema so that the old one reads it"
        )
    if isinstance(found.writer, UnionType):
        return f"leave {name} out of the union in the new schema, {_READERS_FIRST}"
    return f"keep to types of the old union in the new schema: {in_words(found.reader)}"


def _unread(found: Incompatibility) -> AvroType:
    """The type of the writer that no type of the reader's union reads."""
    writer = found.writer
    return writer.branches[int(found.path.rpartition("/")[2])] if isinstance(writer, UnionType) else writer


def _like_unread(found: Incompatibility) -> AvroType | None:
    """The type of the reader's union that was meant to read it."""
    assert isinstance(found.reader, UnionType)
    unread = _unread(found)
    for branch in found.reader.branches:
        if branch.kind is unread.kind and (
            not isinstance(branch, NamedType) or branch.name.short == full_name(unread).rpartition(".")[2]
        ):
            return branch
    return None


def _why_ambiguity(found: Incompatibility, roles: Roles) -> str:
    assert found.field
    return (
        f'by its name and its aliases field "{found.field.name}" of the {roles.reader} schema is several fields of the '
        f"{roles.writer} schema at once"
    )


def _fix_ambiguity_of_reader(found: Incompatibility) -> str:
    assert found.field
    return f'leave one of them: remove the other aliases of field "{found.field.name}" from the new schema'


def _fix_ambiguity_of_writer(found: Incompatibility) -> str:
    assert found.field
    names = ", ".join(f'"{name}"' for name in (found.field.name, *found.field.aliases))
    return f"let one field alone have one of these names in the new schema: {names}"


def _why_too_many(found: Incompatibility, roles: Roles) -> str:
    return "the unions of the schemas are so large that comparing all types of one with all types of the other takes too long"


def _fix_too_many(found: Incompatibility) -> str:
    return "make the unions of the new schema smaller, or set the compatibility level to NONE for this subject"


_EXPLANATIONS: Final = {
    Rule.NAME_MISMATCH: _Explanation(_why_name, _fix_name_of_reader, _fix_name_of_writer),
    Rule.FIXED_SIZE_MISMATCH: _Explanation(_why_size, _fix_size_of_reader, _fix_size_of_writer),
    Rule.MISSING_ENUM_SYMBOLS: _Explanation(_why_symbols, _fix_symbols_of_reader, _fix_symbols_of_writer),
    Rule.READER_FIELD_MISSING_DEFAULT_VALUE: _Explanation(_why_default, _fix_default_of_reader, _fix_default_of_writer),
    Rule.TYPE_MISMATCH: _Explanation(_why_type, _fix_type_of_reader, _fix_type_of_writer),
    Rule.MISSING_UNION_BRANCH: _Explanation(_why_branch, _fix_branch_of_reader, _fix_branch_of_writer),
    Rule.AMBIGUOUS_FIELD: _Explanation(_why_ambiguity, _fix_ambiguity_of_reader, _fix_ambiguity_of_writer),
    Rule.TOO_MANY_COMPARISONS: _Explanation(_why_too_many, _fix_too_many, _fix_too_many),
}
