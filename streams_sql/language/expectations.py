"""What may follow the beginning of a statement: the grammar knows what it looks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from streams_sql.language.parsing import read_statement
from streams_sql.language.reader import Reader
from streams_sql.language.token_reader import EXPRESSION, NAME, TYPE
from streams_sql.problem import SqlProblem

_CONDITION: Final = re.compile(r"\b(?:WHERE|HAVING|ON|WHEN)\b", re.IGNORECASE)
_AFTER_OPERANDS: Final = frozenset({"LIKE", "THEN", "EMIT", "AS"})
"""Where one of these may follow, an expression has come to its end."""
_EXPLAINED: Final = ("SELECT", "CREATE", "INSERT")
_GROUPED: Final = re.compile(r"\bGROUP\s+BY\b", re.IGNORECASE)
_REFUSED: Final = (
    # Rows that never end have no order, and a stream has no primary key.
    (re.compile(r"\bEMIT\s+\w+\s*$", re.IGNORECASE), {"ORDER", "OFFSET"}),
    (re.compile(r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:SOURCE\s+)?STREAM\b", re.IGNORECASE), {"PRIMARY"}),
    (
        re.compile(
            r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:SOURCE\s+)?TABLE\b(?!.*\bPRIMARY\s*$)", re.IGNORECASE | re.DOTALL
        ),
        {"KEY"},
    ),
)


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
    missed, begun = reader.missed_at_end(), reader.begun_at_end()
    if missed is None and not begun:
        return None
    kinds = {phrase[0] for phrase in missed or ()}
    # A word that begins several was perhaps taken for a name: what would follow a name does not go on with it.
    words = set(begun) or {phrase[0] for phrase in missed or () if phrase[0].isupper() and phrase[0].isalpha()}
    if not begun:
        words = _fitting(words, text)
    return Expected(frozenset(words), NAME in kinds, EXPRESSION in kinds, TYPE in kinds)


def _fitting(words: set[str], text: str) -> set[str]:
    """With words that the grammar takes by other ways, and without those that it takes only to say what is wrong with them."""
    words = set(words)
    last = text.rsplit(maxsplit=1)[-1].upper() if text.strip() else ""
    if "LIKE" in words and last != "NOT":
        words.add("NOT")
    if words & _AFTER_OPERANDS and last != "NOT" and _CONDITION.search(text):
        words |= {"AND", "OR"}
    if text.strip().upper() == "EXPLAIN":
        words.update(_EXPLAINED)
    for pattern, refused in _REFUSED:
        if pattern.search(text):
            words -= refused
    if not _GROUPED.search(text):
        words.discard("HAVING")
    return words
