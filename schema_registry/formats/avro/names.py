"""What names may look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from schema_registry.formats.avro.complaint import refuse
from schema_registry.formats.avro.types import AvroType, EnumType, FixedType, RecordType, full_name, parts

NameRule: TypeAlias = Callable[[str], str | None]
"""Says what is wrong with a name, in Avro's words; None if nothing is."""

ADVICE: Final = "a name starts with a letter or an underscore; letters, digits and underscores follow"
_LAST_CHARACTER_OF_ONE_JAVA_CHAR: Final = "\uffff"


def strict(name: str) -> str | None:
    """For schemas that are registered now: the specification allows A-Z, a-z, 0-9 and the underscore."""
    return _fault(name, lambda character: character.isascii())


def lenient(name: str) -> str | None:
    """For schemas that were stored before: letters and digits of any language, as far as one Java character holds them."""
    return _fault(name, lambda character: character <= _LAST_CHARACTER_OF_ONE_JAVA_CHAR)


def anything(_name: str) -> str | None:
    """For what stored schemas refer to: it was checked when it was registered."""
    return None


def check_stored(root: AvroType) -> None:
    """Refuse a stored schema for the names of its types, fields and symbols; its namespaces and aliases may be anything."""
    waiting = [root]
    seen: set[int] = set()
    while waiting:
        a_type = waiting.pop()
        if id(a_type) in seen:
            continue
        seen.add(id(a_type))
        waiting += parts(a_type)
        for name in _names_in(a_type):
            fault = lenient(name)
            if fault:
                refuse(fault, full_name(a_type), ADVICE)


def _names_in(a_type: AvroType) -> tuple[str, ...]:
    match a_type:
        case RecordType():
            return (a_type.name.short, *a_type.fields)
        case EnumType():
            return (a_type.name.short, *a_type.symbols)
        case FixedType():
            return (a_type.name.short,)
        case _:
            return ()


def _fault(name: str, is_known: Callable[[str], bool]) -> str | None:
    if not name:
        return "Empty name"
    if not (is_known(name[0]) and (name[0].isalpha() or name[0] == "_")):
        return f"Illegal initial character: {name}"
    if name.isascii() and name.replace("_", "a").isalnum():
        return None
    legal = all(is_known(one) and (one.isalpha() or one.isdecimal() or one == "_") for one in name)
    return None if legal else f"Illegal character in: {name}"
