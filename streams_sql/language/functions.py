"""CREATE FUNCTION and DROP FUNCTION."""

from __future__ import annotations

import re
from typing import Final

from streams_sql.language.function_statements import CreateFunction, DropFunction, FunctionKind, FunctionParameter
from streams_sql.language.reader import Reader
from streams_sql.language.type_names import read_type

INLINE: Final = "INLINE"
"""The word before a text of Python. `$$ … $$` is written as it, with a string behind it, before a statement is read."""

_PLACE: Final = re.compile(r"(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_NEVER_A_NAME: Final = ("(", "WITH", "AS", ";", "")


def read_create_function(reader: Reader) -> CreateFunction | None:
    """None, and nothing read, where another thing is created. CREATE stands before it."""
    ahead = 2 if (reader.word(), reader.word(ahead=1)) == ("OR", "REPLACE") else 0
    kind = next((kind for kind in FunctionKind if reader.word(ahead) == kind.value.split()[0]), None)
    words = [] if kind is None else kind.value.split()
    behind = reader.word(ahead + len(words))
    is_quoted = behind == "" and not reader.is_last
    if [reader.word(ahead + place) for place in range(len(words))] != words or not words:
        return None
    if kind is FunctionKind.TABLE and behind in _NEVER_A_NAME and not is_quoted:
        # A table of this name.
        return None
    assert kind is not None
    or_replace = reader.accept("OR", "REPLACE")
    reader.expect(*words)
    return _read_definition(reader, kind, or_replace)


def _read_definition(reader: Reader, kind: FunctionKind, or_replace: bool) -> CreateFunction:
    if_not_exists = reader.accept("IF", "NOT", "EXISTS")
    position = reader.position
    name = reader.name().upper()
    reader.expect("(")
    parameters = () if reader.is_next(")") else tuple(reader.listed(lambda: _read_parameter(reader)))
    reader.expect(")")
    reader.expect("RETURNS")
    result = read_type(reader)
    reader.expect("LANGUAGE")
    reader.expect_one_of("PYTHON")
    is_strict = _read_null_rule(reader)
    reader.expect("AS")
    place, source = _read_code(reader)
    return CreateFunction(kind, name, parameters, result, place, source, or_replace, if_not_exists, is_strict, position)


def _read_parameter(reader: Reader) -> FunctionParameter:
    position = reader.position
    return FunctionParameter(reader.name(), read_type(reader), position)


def _read_null_rule(reader: Reader) -> bool:
    """Whether a NULL among the arguments gives NULL without a call."""
    if reader.accept("CALLED", "ON", "NULL", "INPUT"):
        return False
    return reader.accept("STRICT") or reader.accept("RETURNS", "NULL", "ON", "NULL", "INPUT")


def _read_code(reader: Reader) -> tuple[tuple[str, str] | None, str]:
    if reader.accept(INLINE):
        return None, reader.string()
    position = reader.position
    text = reader.string()
    found = _PLACE.fullmatch(text)
    if found is None:
        raise reader.problem(
            f"'{text}' names no callable: write 'package.module:name', or the code itself between $$ and $$.", position
        )
    return (found["module"], found["name"]), ""


def read_drop_function(reader: Reader) -> DropFunction | None:
    """None, and nothing read, where another thing is dropped. DROP stands before it."""
    if not reader.accept("FUNCTION"):
        return None
    if_exists = reader.accept("IF", "EXISTS")
    position = reader.position
    return DropFunction(reader.name().upper(), if_exists, position)
