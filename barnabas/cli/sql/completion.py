"""Tab at the SQL prompt: words of the language, functions, names, the columns of the sources that a statement names, topics, properties."""

from __future__ import annotations

import glob
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from barnabas.sql import Client, Refused, ServerUnreachable
from streams_sql.analysis.with_clause import OF_SOURCES
from streams_sql.language.expectations import Expected, expected_after
from streams_sql.language.splitting import split_statements
from streams_sql.language.words import RESERVED_WORDS
from streams_sql.problem import SqlProblem

KEPT_S: Final = 10.0
"""How long names are taken to be as they were."""
SOURCES_ASKED_MAX: Final = 20
"""Sources that are asked for their columns because they might be meant."""

IN_EXPRESSIONS: Final = frozenset(
    {
        "ARRAY",
        "CASE",
        "CAST",
        "FALSE",
        "MAP",
        "NOT",
        "NULL",
        "ROWOFFSET",
        "ROWPARTITION",
        "ROWTIME",
        "STRUCT",
        "TRUE",
        "WINDOWEND",
        "WINDOWSTART",
    }
)
TYPES: Final = frozenset(
    {
        "ARRAY",
        "BIGINT",
        "BOOLEAN",
        "BYTES",
        "DATE",
        "DECIMAL",
        "DOUBLE",
        "INTEGER",
        "MAP",
        "STRING",
        "STRUCT",
        "TIME",
        "TIMESTAMP",
    }
)
WORDS: Final = RESERVED_WORDS | IN_EXPRESSIONS | TYPES
"""What is offered where it is unknown what may follow."""
DELIMITERS: Final = " \t\n,()=<>;"
"""What ends a word for readline. Operators do not: the names of topics and files hold them, too."""
_OPERATORS: Final = re.compile(r"(.*[-+*/%|])([^-+*/%|]*)", re.DOTALL)

_NAME: Final = re.compile(r"`[^`]+`|[A-Za-z_@][A-Za-z0-9_@]*")
_PLAIN: Final = re.compile(r"[A-Z_][A-Z0-9_@]*")
# What stands before the word that is being written.
_SOURCE_BEFORE: Final = re.compile(
    r"\b(?:FROM|JOIN|INTO|DESCRIBE|DROP\s+(?:STREAM|TABLE)(?:\s+IF\s+EXISTS)?)\s+$", re.IGNORECASE
)
_TOPIC_BEFORE: Final = re.compile(r"\b(?:PRINT\s+|KAFKA_TOPIC\s*=\s*)$", re.IGNORECASE)
_PROPERTY_BEFORE: Final = re.compile(r"\b(?:UN)?SET\s+$", re.IGNORECASE)
_QUERY_BEFORE: Final = re.compile(r"\b(?:TERMINATE|PAUSE|RESUME|EXPLAIN)\s+$", re.IGNORECASE)
_FUNCTION_BEFORE: Final = re.compile(r"\bDESCRIBE\s+FUNCTION\s+$", re.IGNORECASE)
_PROPERTIES_BEFORE: Final = re.compile(r"\bWITH\s*\((?:[^()]*,)?\s*$", re.IGNORECASE)
_NEW_NAME_BEFORE: Final = re.compile(r"\b(?:AS|STREAM|TABLE|TYPE|EXISTS|CONNECTOR|WINDOW)\s+$", re.IGNORECASE)
_ANYTHING: Final = Expected(WORDS, is_name=True, is_expression=True, is_type=False)
_FILE_BEFORE: Final = re.compile(r"\bRUN\s+SCRIPT\s+$", re.IGNORECASE)


class Completer:
    """For readline. `statement` is what was written in the lines before the one that is being written."""

    def __init__(self, client: Client, line: Callable[[], str]) -> None:
        self._client = client
        self._line = line
        self._kept: dict[str, tuple[float, list[str]]] = {}
        self._matches: list[str] = []
        self.statement = ""

    def __call__(self, text: str, state: int) -> str | None:
        """The state-th word that may stand for the text."""
        if state == 0:
            self._matches = self.matches(text)
        return self._matches[state] if state < len(self._matches) else None

    def matches(self, text: str) -> list[str]:
        """`text` is the end of what has been written."""
        written = f"{self.statement} {self._line()}"
        before = written[: len(written) - len(text)] if text and written.endswith(text) else written
        if text.startswith("'"):
            return _quoted(self._quotable(before, text[1:]), text[1:])
        if joined := _OPERATORS.fullmatch(text):
            return [joined[1] + match for match in self.matches(joined[2])]
        if found := _SOURCE_BEFORE.search(before):
            words = _expected(before).words | ({"FUNCTION"} if found[0].strip().upper() == "DESCRIBE" else set())
            return sorted({*_words(words, text), *_fitting(self._sources(), text)})
        if _FUNCTION_BEFORE.search(before):
            return _words(self._functions(), text)
        alias, dot, rest = text.rpartition(".")
        if dot:
            return [f"{alias}.{name}" for name in _fitting(self._columns_of(alias, written), rest)]
        return self._following(before, text, written)

    def _following(self, before: str, text: str, written: str) -> list[str]:
        """What the grammar lets follow: words, and names of what is meant there."""
        expected = _expected(before)
        is_query = _QUERY_BEFORE.search(before) is not None
        names = self._queries() if is_query else []
        words = _words(expected.words, text)
        functions: list[str] = []
        if expected.is_type:
            words += _words(TYPES, text)
            names = self._types()
        elif expected.is_expression:
            words += _words(IN_EXPRESSIONS, text)
            functions = _words(self._functions(), text)
            names = self._used_columns(written)
        elif expected.is_name and _PROPERTIES_BEFORE.search(before):
            words += _words(OF_SOURCES, text)
        elif expected.is_name and not is_query and not _NEW_NAME_BEFORE.search(before):
            names = self._used_columns(written)
        found = {*words, *functions, *_fitting(names, text)}
        if len(found) == 1:
            return [f"{only} " if only in words else f"{only}(" if only in functions else only for only in found]
        return sorted(found)

    def _quotable(self, before: str, text: str) -> list[str]:
        if _TOPIC_BEFORE.search(before):
            return self._topics()
        if _PROPERTY_BEFORE.search(before):
            return self._properties()
        return glob.glob(f"{glob.escape(text)}*") if _FILE_BEFORE.search(before) else []

    def _used_columns(self, written: str) -> list[str]:
        """Of the sources that are named; before there is one, of all of them, if these are few."""
        sources = self._sources()
        used = {_bare(word) for word in _NAME.findall(written)} & set(sources)
        if not used and len(sources) <= SOURCES_ASKED_MAX:
            used = set(sources)
        return [column for name in used for column in self._columns(name)]

    def _columns_of(self, alias: str, written: str) -> list[str]:
        """`alias` may also be the name of a source."""
        wanted = _bare(alias)
        words = [_bare(word) for word in _NAME.findall(written)]
        sources = set(self._sources())
        found = {wanted} & sources
        for place, word in enumerate(words):
            if word in sources:
                behind = [each for each in words[place + 1 : place + 3] if each != "AS"]
                found |= {word} if behind[:1] == [wanted] else set()
        return [column for name in found for column in self._columns(name)]

    def _sources(self) -> list[str]:
        return self._asked("SHOW STREAMS; SHOW TABLES;", _source_names)

    def _columns(self, source: str) -> list[str]:
        return self._asked(f"DESCRIBE `{source}`;", _column_names)

    def _functions(self) -> list[str]:
        return self._asked("SHOW FUNCTIONS;", lambda entities: _names(entities, "functions"))

    def _types(self) -> list[str]:
        return self._asked("SHOW TYPES;", lambda entities: [name for entity in entities for name in entity["types"]])

    def _topics(self) -> list[str]:
        return self._asked("SHOW TOPICS;", lambda entities: _names(entities, "topics"))

    def _properties(self) -> list[str]:
        return self._asked("SHOW PROPERTIES;", lambda entities: _names(entities, "properties"))

    def _queries(self) -> list[str]:
        return self._asked("SHOW QUERIES;", lambda entities: _names(entities, "queries", "id"))

    def _asked(self, sql: str, names: Callable[[Iterable[dict[str, Any]]], list[str]]) -> list[str]:
        """What a server has that answers; nothing, and no complaint, otherwise."""
        now_s = time.monotonic()
        kept = self._kept.get(sql)
        if kept is not None and now_s - kept[0] < KEPT_S:
            return kept[1]
        try:
            found = names(self._client.execute(sql))
        except (Refused, ServerUnreachable):
            found = []
        self._kept[sql] = now_s, found
        return found

    def forget(self) -> None:
        """A statement was run: there may be other names now."""
        self._kept = {sql: kept for sql, kept in self._kept.items() if sql == "SHOW FUNCTIONS;"}


def _expected(before: str) -> Expected:
    """Of the statement that is being written."""
    try:
        statements = split_statements(before)
    except SqlProblem:
        return _ANYTHING
    text = "" if not statements or statements[-1].endswith(";") else statements[-1]
    return expected_after(text) or _ANYTHING


def _source_names(entities: Iterable[dict[str, Any]]) -> list[str]:
    return [each["name"] for entity in entities for each in (*entity.get("streams", ()), *entity.get("tables", ()))]


def _column_names(entities: Iterable[dict[str, Any]]) -> list[str]:
    return [each["name"] for entity in entities for each in entity["sourceDescription"]["fields"]]


def _names(entities: Iterable[dict[str, Any]], member: str, name: str = "name") -> list[str]:
    return [each[name] for entity in entities for each in entity[member]]


def _bare(word: str) -> str:
    return word[1:-1] if word.startswith("`") else word.upper()


def _fitting(names: Iterable[str], text: str) -> list[str]:
    """Names that begin with the text, as they must be written. Those in capitals have no case: who writes small letters gets small ones."""
    if text.startswith("`"):
        return sorted([f"`{name}`" for name in names if name.startswith(text[1:])])
    plain = _words([name for name in names if _PLAIN.fullmatch(name)], text)
    others = [f"`{name}`" for name in names if not _PLAIN.fullmatch(name) and name.upper().startswith(text.upper())]
    return sorted({*plain, *others})


def _words(words: Iterable[str], text: str) -> list[str]:
    is_small = bool(text) and text == text.lower()
    found = {word for word in words if word.upper().startswith(text.upper())}
    return sorted([word.lower() if is_small else word for word in found])


def _quoted(names: Iterable[str], text: str) -> list[str]:
    return sorted([f"'{name}'" for name in names if name.startswith(text)])
