"""From the text of one statement to the statement."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Final

from streams_sql.language.administrative_statements import (
    read_change,
    read_define,
    read_describe,
    read_print,
    read_set,
    read_show,
    read_undefine,
    read_unset,
)
from streams_sql.language.assertions import read_assert
from streams_sql.language.definitions import read_alter, read_create, read_drop, read_insert
from streams_sql.language.functions import INLINE
from streams_sql.language.queries import read_query
from streams_sql.language.reader import Reader
from streams_sql.language.splitting import CODE, CODE_MARK, COMMENT, QUOTED, STRING_OR_NAME, split_statements
from streams_sql.language.statements import Explain, Statement
from streams_sql.language.table_changes import read_delete
from streams_sql.problem import Lines, SyntaxProblem

STATEMENT_CHARACTERS_MAX: Final = 1_000_000
BARE_CHARACTERS_MAX: Final = 100_000
"""Outside of strings, quoted names and comments: words cost far more time than what is in quotes."""

QUOTE: Final = "'"
_CODE: Final = re.compile(rf"{STRING_OR_NAME}|{COMMENT}|{CODE}", re.DOTALL)
_NOT_BARE: Final = re.compile(f"{QUOTED}|{COMMENT}", re.DOTALL)
_BRACE: Final = re.compile(rf"{QUOTED}|{COMMENT}|(?P<brace>\$?\{{[^}}\s]*\}}?)", re.DOTALL)
_LATER: Final = frozenset({"RUN"})


def parse_statement(text: str) -> Statement:
    """Return the one statement of this text, whose semicolon may be missing. Types and functions that statements have created are names
    in it, until `bound` puts them in."""
    text = _with_code_as_string(text)
    _refuse_giants(text)
    count = len(split_statements(text))
    if count != 1:
        raise SyntaxProblem(f"Exactly one statement is expected, but there are {count}.")
    _refuse_braces(text)
    reader = Reader(text)
    statement = read_statement(reader)
    reader.finish()
    return statement


def _with_code_as_string(text: str) -> str:
    """`$$ … $$` as a string, which may have quotes in it."""

    def written(piece: re.Match[str]) -> str:
        code = piece["code"]
        return piece[0] if code is None else f"{INLINE} '{code.replace(QUOTE, QUOTE * 2)}'"

    return _CODE.sub(written, text) if CODE_MARK in text else text


def _refuse_giants(text: str) -> None:
    if len(text) > STATEMENT_CHARACTERS_MAX:
        raise SyntaxProblem(f"A statement has at most {STATEMENT_CHARACTERS_MAX} characters, this one has {len(text)}.")
    if len(text) > BARE_CHARACTERS_MAX and len(_NOT_BARE.sub("", text)) > BARE_CHARACTERS_MAX:
        raise SyntaxProblem(
            f"A statement has at most {BARE_CHARACTERS_MAX} characters outside of strings and comments."
        )


def _refuse_braces(text: str) -> None:
    """sqlglot takes {# … #} for a comment, and nothing that is left after the variables are put in has a brace."""
    brace = next((found for found in _BRACE.finditer(text) if found["brace"]), None) if "{" in text else None
    if brace:
        raise SyntaxProblem(f"Unexpected '{brace['brace']}'.", Lines(text).position(brace.start(), len(brace["brace"])))


def read_statement(reader: Reader) -> Statement:
    """Whatever it is. What follows it is not looked at."""
    word = reader.word()
    if word in _LATER:
        raise reader.not_supported(word)
    read = _STATEMENTS.get(word)
    if read is None:
        raise _unknown(reader, word)
    return read(reader)


def _unknown(reader: Reader, word: str) -> SyntaxProblem:
    nearest = difflib.get_close_matches(word, _STATEMENTS, 1)
    if nearest:
        return reader.problem(f"Unknown statement '{word}'. Did you mean {nearest[0]}?")
    reader.accept_one_of(*_STATEMENTS)
    return reader.unexpected()


def _read_explain(reader: Reader) -> Explain:
    reader.expect("EXPLAIN")
    if reader.word() in _STATEMENTS and not reader.is_last:
        return Explain(statement=reader.nested(lambda: read_statement(reader)))
    return Explain(query_id=reader.name())


_STATEMENTS: Final[dict[str, Callable[[Reader], Statement]]] = {
    "SELECT": read_query,
    "WITH": read_query,
    "CREATE": read_create,
    "INSERT": read_insert,
    "DROP": read_drop,
    "DELETE": read_delete,
    "ALTER": read_alter,
    "ASSERT": read_assert,
    "SHOW": read_show,
    "LIST": read_show,
    "DESCRIBE": read_describe,
    "EXPLAIN": _read_explain,
    "PRINT": read_print,
    "TERMINATE": read_change,
    "PAUSE": read_change,
    "RESUME": read_change,
    "SET": read_set,
    "UNSET": read_unset,
    "DEFINE": read_define,
    "UNDEFINE": read_undefine,
}
