"""SQL statements that say what shall be there, as a file has them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.cli.apply.document import Mistakes
from barnabas.cli.command_error import CommandError
from barnabas.cli.sql.script import PlacedStatement, problem_text
from streams_sql.analysis.query_parts import relations
from streams_sql.language.external_statements import CreateConnector
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import (
    CreateAsSelect,
    CreateSource,
    CreateType,
    InsertSelect,
    SetProperty,
    Statement,
    UnsetProperty,
)
from streams_sql.problem import SqlProblem

STATEMENT_SHOWN_CHARACTERS: Final = 60

Made = CreateSource | CreateAsSelect | CreateType | InsertSelect


@dataclass(frozen=True, slots=True)
class Wanted:
    """A statement that makes something; `before` are the SET and UNSET that stand before it, and `settings` is what they come to."""

    statement: PlacedStatement
    parsed: Made
    before: tuple[str, ...]
    settings: Mapping[str, str]

    @property
    def key(self) -> str:
        match self.parsed:
            case CreateSource(kind, name) | CreateAsSelect(kind, name):
                return f"{kind.value} {name}"
            case CreateType(name):
                return f"TYPE {name}"
        return f"QUERY {one_line(self.statement.text)}"

    @property
    def source(self) -> str:
        """The stream or table that it makes; nothing where it makes something else."""
        return self.parsed.name if isinstance(self.parsed, CreateSource | CreateAsSelect) else ""

    @property
    def name(self) -> str:
        match self.parsed:
            case InsertSelect(target):
                shown = one_line(self.statement.text)
                return shown if len(shown) <= STATEMENT_SHOWN_CHARACTERS else f"INSERT INTO {target} {_digest(shown)}"
        return self.key

    @property
    def text(self) -> str:
        """With its semicolon."""
        return _ended(self.statement.text)

    def needs(self, other: Wanted) -> bool:
        """Whether it can only be understood with what another one makes."""
        match self.parsed, other.parsed:
            case _, CreateType(name):
                return re.search(rf"\b{re.escape(name)}\b", self.statement.text, re.IGNORECASE) is not None
            case (CreateAsSelect() | InsertSelect()) as made, CreateSource(name=name) | CreateAsSelect(name=name):
                read = {relation.name for relation in relations(made.query)}
                return name in read or (isinstance(made, InsertSelect) and name == made.target)
        return False


def read(statements: Sequence[PlacedStatement], mistakes: Mistakes) -> list[Wanted]:
    """Those that can be applied; what is wrong with the others is noted."""
    found: dict[str, Wanted] = {}
    before: list[str] = []
    settings: dict[str, str] = {}
    for statement in statements:
        with mistakes.noted():
            parsed = _parsed(statement)
            if isinstance(parsed, SetProperty | UnsetProperty):
                before.append(_ended(statement.text))
                if isinstance(parsed, SetProperty):
                    settings[parsed.name] = parsed.value
                else:
                    settings.pop(parsed.name, None)
                continue
            one = Wanted(statement, parsed, tuple(before), dict(settings))
            if one.key in found:
                first = found[one.key].statement.place
                raise CommandError(
                    f"{statement.place.prefix()}{one.name} stands twice; the first is in {first.script}:{first.line}"
                )
            found[one.key] = one
    return list(found.values())


def _parsed(statement: PlacedStatement) -> Made | SetProperty | UnsetProperty:
    """Statements that do something each time are none of these."""
    try:
        parsed: Statement = parse_statement(statement.text)
    except SqlProblem as problem:
        raise CommandError(problem_text(statement.text, problem, statement.place)) from None
    if isinstance(parsed, Made | SetProperty | UnsetProperty):
        return parsed
    hint = (
        "Write it under `connectors`."
        if isinstance(parsed, CreateConnector)
        else "CREATE STREAM, TABLE and TYPE, INSERT INTO … SELECT, SET and UNSET can be applied; `barnabas sql` runs the others."
    )
    raise CommandError(f"{statement.place.prefix()}this statement does not say what shall be there", hint)


def one_line(text: str) -> str:
    return " ".join(text.rstrip("; \t\r\n").split())


def _ended(text: str) -> str:
    return text if text.endswith(";") else f"{text};"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
