"""Variables of a session: ${name} in a statement stands for the variable's value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Final

from streams_sql.language.splitting import COMMENT, QUOTED
from streams_sql.problem import Lines, SyntaxProblem, shortened

_NAME: Final = r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_@]*)\}"
_REFERENCE: Final = re.compile(_NAME)
_PIECE: Final = re.compile(rf"(?P<string>'[^']*(?:''[^']*)*')|{QUOTED}|{COMMENT}|{_NAME}", re.DOTALL)
_ONE_TOKEN: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_@]*|-?[0-9]+(\.[0-9]*)?([Ee][+-]?[0-9]+)?|{QUOTED}")


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """Put the values of variables in. In a string, a value stays inside of it whatever quotes it has, and an unknown variable stays as
    it is; elsewhere a value must be one name or literal, and the variable must be known."""

    def replaced(piece: re.Match[str]) -> str:
        if piece["string"] is not None:
            return _REFERENCE.sub(replaced_in_string, piece["string"])
        return piece[0] if piece["name"] is None else _value(text, piece, variables)

    def replaced_in_string(reference: re.Match[str]) -> str:
        value = variables.get(reference["name"])
        return reference[0] if value is None else value.replace("'", "''")

    return _PIECE.sub(replaced, text) if "${" in text else text


def _value(text: str, reference: re.Match[str], variables: Mapping[str, str]) -> str:
    name = reference["name"]
    position = Lines(text).position(reference.start(), len(reference[0]))
    value = variables.get(name)
    if value is None:
        nearest = difflib.get_close_matches(name, variables, 1)
        hint = f"Did you mean ${{{nearest[0]}}}?" if nearest else f"Define it first: DEFINE {name} = '…';"
        raise SyntaxProblem(f"The variable {name} is not defined. {hint}", position)
    if not _ONE_TOKEN.fullmatch(value):
        raise SyntaxProblem(
            f"The value of the variable {name} must be one name, number or quoted string where it stands outside of a string. "
            f"Got: '{shortened(value)}'",
            position,
        )
    return value
