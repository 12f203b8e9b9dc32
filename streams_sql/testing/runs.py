"""Tests of a file, run one after the other, each in a world of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from streams_sql.problem import SqlProblem, shown
from streams_sql.testing.bench import Bench, Registry, StatementProblem
from streams_sql.testing.script import PlacedStatement, SqlTest


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong, and where."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Ran:
    test: SqlTest
    failure: Failure | None
    took_s: float


def run_test(test: SqlTest, registry: Registry | None = None) -> Ran:
    begun_s = time.monotonic()
    bench = Bench(registry)
    try:
        failure = _failure(test, bench)
    finally:
        bench.close()
    return Ran(test, failure, time.monotonic() - begun_s)


def _failure(test: SqlTest, bench: Bench) -> Failure | None:
    """What a test does otherwise than it is to."""
    is_setup = True
    try:
        for statement in test.setup:
            bench.run(statement)
        is_setup = False
        for statement in test.statements:
            bench.run(statement)
    except StatementProblem as stopped:
        return _judged(test, stopped, bench, is_expected=test.is_refused and not is_setup)
    if test.is_refused:
        wanted = "" if test.message is None else f" with {test.message!r} in it"
        return Failure(test.path, test.line, f"an error{wanted} is expected, and all statements were carried out")
    return None


def _judged(test: SqlTest, stopped: StatementProblem, bench: Bench, *, is_expected: bool) -> Failure | None:
    statement, problem = stopped.statement, stopped.problem
    if not is_expected:
        on_the_way = "".join(f"\non the way: {each}" for each in bench.problems)
        return Failure(statement.path, statement.line_of(problem.position), _told(statement, problem) + on_the_way)
    if test.message is None or test.message in problem.message:
        return None
    text = f"the expected error has other words.\nexpected: {test.message}\nfound:    {problem.message}"
    return Failure(statement.path, statement.line_of(problem.position), text)


def _told(statement: PlacedStatement, problem: SqlProblem) -> str:
    """The first line of a message stands before the line of the statement, what follows behind it."""
    first, _, rest = problem.message.partition("\n")
    with_caret = shown(statement.text, SqlProblem(first, problem.position))
    return f"{with_caret}\n{rest}" if rest else with_caret
