"""Tells people what an incompatibility means: both sides, why it breaks readers, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schema_registry.formats.avro.compatibility import Incompatibility, Rule
from schema_registry.formats.avro.complaint import excerpt
from schema_registry.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    Field,
    FixedType,
    Kind,
    MapType,
    NamedType,
    RecordType,
    UnionType,
    full_name,
)
from schema_registry.formats.difference import Difference, Roles
from schema_registry.formats.json_text import JsonValue

OUTLINE_MAX_LEVELS = 3
"""How far an outline of a type goes into it."""

OUTLINE_MAX_BRANCHES = 10
"""How many types of a union, or symbols of an enum, an outline shows."""

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
_NUMBERS: Final = (Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE)


def explain(found: Incompatibility, roles: Roles) -> Difference:
    reader, writer = _sides(found)
    why, fix = _EXPLANATIONS[found.rule](found, roles)
    return Difference(found.rule.value, found.path, _message(found, roles), reader, writer, why, fix)


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
        return excerpt(_field_outline(found.field)), None
    if found.rule is Rule.AMBIGUOUS_FIELD and found.field and isinstance(found.writer, RecordType):
        matches = [name for name in (found.field.name, *found.field.aliases) if name in found.writer.fields]
        return excerpt(_field_outline(found.field)), excerpt(
            [_field_outline(found.writer.fields[name]) for name in matches]
        )
    return excerpt(_outline(found.reader)), excerpt(_outline(found.writer))


def _outline(a_type: AvroType, level: int = 0) -> JsonValue:
    """The type without what is inside of named types, so that it is short however large the schema is."""
    if level >= OUTLINE_MAX_LEVELS:
        return full_name(a_type)
    match a_type:
        case UnionType():
            return [_outline(branch, level + 1) for branch in a_type.branches[:OUTLINE_MAX_BRANCHES]]
        case ArrayType():
            return {"type": "array", "items": _outline(a_type.items, level + 1)}
        case MapType():
            return {"type": "map", "values": _outline(a_type.values, level + 1)}
        case EnumType() if level == 0:
            symbols: list[JsonValue] = [*a_type.symbols[:OUTLINE_MAX_BRANCHES]]
            return {"type": "enum", "name": a_type.name.full, "symbols": symbols}
        case FixedType() if level == 0:
            return {"type": "fixed", "name": a_type.name.full, "size": a_type.size}
        case RecordType() if level == 0:
            return {"type": "record", "name": a_type.name.full}
        case _:
            return full_name(a_type)


def _field_outline(field: Field) -> JsonValue:
    outline: dict[str, JsonValue] = {"name": field.name, "type": _outline(field.type, 1)}
    if field.aliases:
        outline["aliases"] = [*field.aliases]
    return outline


def _text(a_type: AvroType) -> str:
    return excerpt(_outline(a_type, 1))


def _explain_name(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    reader, writer = full_name(found.reader), full_name(found.writer)
    why = f'Avro finds the type of data by its name: a reader that knows "{reader}" does not take data of "{writer}" for it'
    return why, f'keep the name "{writer}", or add "aliases": ["{writer}"] to "{reader}" in the {roles.reader} schema'


def _explain_size(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    reader, writer = found.reader, found.writer
    assert isinstance(reader, FixedType)
    assert isinstance(writer, FixedType)
    why = (
        f"each value takes {writer.size} bytes in the data, and the reader would take {reader.size} and lose its place"
    )
    return why, f'set "size" of "{reader.name.full}" to {writer.size}, or add a field with a default for the new size'


def _explain_symbols(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    name = full_name(found.reader)
    missing = found.details.strip("[]")
    why = f'data of the {roles.writer} schema can hold {missing}, which enum "{name}" of the {roles.reader} schema cannot show'
    return (
        why,
        f'add {missing} to the symbols of "{name}", or give the enum a "default", which stands for all unknown symbols',
    )


def _explain_default(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    assert found.field
    name, a_type = found.field.name, found.field.type
    why = f'data of the {roles.writer} schema has no field "{name}", so that a reader has nothing to put there'
    if isinstance(a_type, UnionType) and any(branch.kind is Kind.NULL for branch in a_type.branches):
        fix = f'add "default": null to field "{name}"; that it may be null does not make null its default'
    elif a_type.kind in _EXAMPLES:
        example = excerpt(_EXAMPLES[a_type.kind])
        fix = (
            f'add a default to field "{name}", such as {example}, or null with a union type: ["null", {_text(a_type)}]'
        )
    else:
        fix = f'add a default to field "{name}", such as null with a union type: ["null", {_text(a_type)}]'
    renamed = _renamed(found)
    return (
        why,
        f'{fix}; if it is "{renamed}" under a new name, add "aliases": ["{renamed}"] instead' if renamed else fix,
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


def _explain_type(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    reader, writer = found.reader, found.writer
    if isinstance(reader, EnumType) and isinstance(writer, RecordType) and reader.default is not None:
        why = f'data of the {roles.writer} schema has no such field, and the default of enum "{reader.name.full}" is for unknown symbols only'
        return why, f'add "default": "{reader.default}" to the field itself'
    why = f"a reader that expects {_text(reader)} cannot take {_text(writer)} for it"
    if reader.kind in _NUMBERS and writer.kind in _NUMBERS:
        return (
            f"{why}: numbers become wider only, from int to long to float to double",
            f'keep "{writer.kind.value}", or take a wider type',
        )
    fix = f"keep {_text(writer)}, or make it a union of both types"
    return why, f"{fix}, or add a new field with a default and leave this one as it was"


def _explain_branch(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    assert isinstance(found.reader, UnionType)
    lacking = found.writer
    if isinstance(lacking, UnionType):
        lacking = lacking.branches[int(found.path.rpartition("/")[2])]
    name = _text(lacking)
    why = f"data of the {roles.writer} schema can hold {name} here, and no type of the {roles.reader} union reads it"
    for branch in found.reader.branches:
        if branch.kind is lacking.kind and (
            not isinstance(branch, NamedType) or branch.name.short == full_name(lacking).rpartition(".")[2]
        ):
            return (
                why,
                f"the union has {_text(branch)}, but its content differs: change it so that it reads that of the {roles.writer} schema",
            )
    return why, f"add {name} to the union in the {roles.reader} schema"


def _explain_ambiguity(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    assert found.field
    why = (
        f'by its name and its aliases field "{found.field.name}" is several fields of the {roles.writer} schema at once'
    )
    return (
        why,
        f'leave one of them: remove the other aliases of field "{found.field.name}" from the {roles.reader} schema',
    )


def _explain_size_of_check(found: Incompatibility, roles: Roles) -> tuple[str, str]:
    why = "the unions of the schemas are so large that comparing all types of one with all types of the other takes too long"
    return why, "make the unions smaller, or set the compatibility level to NONE for this subject"


_EXPLANATIONS: Final = {
    Rule.NAME_MISMATCH: _explain_name,
    Rule.FIXED_SIZE_MISMATCH: _explain_size,
    Rule.MISSING_ENUM_SYMBOLS: _explain_symbols,
    Rule.READER_FIELD_MISSING_DEFAULT_VALUE: _explain_default,
    Rule.TYPE_MISMATCH: _explain_type,
    Rule.MISSING_UNION_BRANCH: _explain_branch,
    Rule.AMBIGUOUS_FIELD: _explain_ambiguity,
    Rule.TOO_MANY_COMPARISONS: _explain_size_of_check,
}
