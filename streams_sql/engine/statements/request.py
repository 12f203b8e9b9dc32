"""Requests: their SQL is split and parsed once, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from streams_sql.engine.failures import StatementFailed
from streams_sql.language.parsing import parse_statement
from streams_sql.language.splitting import placed_statements
from streams_sql.language.statements import DefineVariable, Statement, UndefineVariable
from streams_sql.language.variables import substitute
from streams_sql.problem import SqlProblem

STATEMENTS_MAX: Final = 1_000
"""In one request."""


@dataclass(frozen=True, slots=True)
class SqlRequest:
    """SQL, and the properties and variables that hold for it. `command_sequence_number` is the position of a change that the client has
    made, maybe through another server, and must see."""

    text: str
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    command_sequence_number: int = 0


@dataclass(frozen=True, slots=True)
class ParsedStatement:
    """`written` is the statement as the request has it, `start` its offset there, and `text` the same with the values of variables."""

    start: int
    written: str
    text: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class SyntaxFailure:
    """A statement that cannot be read."""

    start: int
    written: str
    problem: SqlProblem


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """The statements up to the first that cannot be read: those before it are validated, and their failures come first. `count` is the
    number of all statements."""

    request: SqlRequest
    count: int
    statements: tuple[ParsedStatement, ...]
    failure: SyntaxFailure | None = None

    def only(self) -> ParsedStatement:
        """Return the statement of a request that may have one only. StatementFailed."""
        if self.count != 1:
            problem = SqlProblem(f"Expected exactly one KSQL statement; found {self.count} instead.")
            raise StatementFailed(self.request.text, problem)
        self.check()
        return self.statements[0]

    def check(self) -> None:
        """StatementFailed for the statement that cannot be read."""
        if self.failure is not None:
            raise StatementFailed(self.failure.written, self.failure.problem)


def parse_request(request: SqlRequest, statements_max: int | None = STATEMENTS_MAX) -> ParsedRequest:
    """StatementFailed where the text cannot be split into statements, or has too many."""
    try:
        found = placed_statements(request.text)
    except SqlProblem as problem:
        raise StatementFailed(request.text, problem) from None
    if statements_max is not None and len(found) > statements_max:
        too_many = SqlProblem(f"{len(found)} statements are too many; send {statements_max} at once.")
        raise StatementFailed(request.text, too_many)
    variables, parsed = dict(request.variables), list[ParsedStatement]()
    for start, written in found:
        try:
            text = substitute(written, variables)
            statement = parse_statement(text)
        except SqlProblem as problem:
            return ParsedRequest(request, len(found), tuple(parsed), SyntaxFailure(start, written, problem))
        parsed.append(ParsedStatement(start, written, text, statement))
        match statement:
            case DefineVariable(name, value):
                variables[name] = value
            case UndefineVariable(name):
                variables.pop(name, None)
    return ParsedRequest(request, len(found), tuple(parsed))
