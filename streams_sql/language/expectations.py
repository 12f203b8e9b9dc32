"""What may follow the beginning of a statement: the grammar knows what it looks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from streams_sql.language.parsing import read_statement
from streams_sql.language.problem import SqlProblem
from streams_sql.language.reader import Reader
from streams_sql.language.token_reader import EXPRESSION, NAME, TYPE

_CONDITION: Final = re.compile(r"\b(?:WHERE|HAVING|ON|WHEN)\b", re.IGNORECASE)
_AFTER_OPERANDS: Final = frozenset({"LIKE", "THEN", "EMIT", "AS"})
"""Where one of these may follow, an expression has come to its end."""
_EXPLAINED: Final = ("SELECT", "CREATE", "INSERT")


@dataclass(frozen=True, slots=True)
class Expected:
    """Words of the language, and kinds of things that have names of their own."""

    words: frozenset[str]
    is_name: bool
    is_expression: bool
    is_type: bool


def expected_after(text: str) -> Expected | None:
    """What may stand behind this text, which is the beginning of one statement; None where it has gone wrong before its end."""
    try:
        reader = Reader(text)
    except SqlProblem:
        return None
    try:
        read_statement(reader)
        reader.finish()
    except SqlProblem:
        pass
    missed = reader.missed_at_end()
    if missed is None:
        return None
    words = {phrase[0] for phrase in missed if phrase[0].isupper() and phrase[0].isalpha()}
    kinds = {phrase[0] for phrase in missed}
    if "LIKE" in words:
        words.add("NOT")
    if words & _AFTER_OPERANDS and _CONDITION.search(text):
        words |= {"AND", "OR"}
    if text.strip().upper() == "EXPLAIN":
        words.update(_EXPLAINED)
    return Expected(frozenset(words), NAME in kinds, EXPRESSION in kinds, TYPE in kinds)
