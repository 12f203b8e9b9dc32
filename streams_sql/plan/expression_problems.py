"""Errors of expressions as problems that can be told, some of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from streams_sql.evaluation.expression_error import AggregateError, ExpressionError
from streams_sql.plan.join_warning import JoinWarning
from streams_sql.plan.pipeline import Origin
from streams_sql.plan.records import RAW_BYTES_MAX, Problem, ProblemKind
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem

TEXT_CHARACTERS_MAX: Final = 200
"""Of an expression, in a message."""
TOLD_MAX: Final = 10
"""Problems that are told by themselves between two looks; more are counted with the last of them."""


class ExpressionProblems:
    """Takes errors of expressions, of which it keeps some. `topic` is where the rows come from, if that is one."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._told: list[Problem] = []
        self._more = 0
        self._warnings: dict[str, Problem] = {}

    def add(self, error: Exception) -> None:
        if isinstance(error, JoinWarning):
            self._warnings[error.join] = expression_problem(error, self._topic)
        elif len(self._told) < TOLD_MAX:
            self._told.append(expression_problem(error, self._topic))
        else:
            self._more += 1

    def take(self) -> list[Problem]:
        """Those since the last look."""
        told, more = self._told, self._more
        if more:
            told[-1] = told[-1]._replace(times=1 + more)
        warnings = self._warnings.values()
        self._told, self._more, self._warnings = [], 0, {}
        return [*told, *warnings]


def expression_problem(error: Exception, topic: str) -> Problem:
    if isinstance(error, AggregateError):
        return Problem(topic, -1, -1, f"{_shortened(error.call)} gave NULL: {error}", ProblemKind.PROCESSING)
    if isinstance(error, JoinWarning):
        return Problem("", -1, -1, error.text, ProblemKind.PROCESSING, error.join, times=0)
    if not isinstance(error, ExpressionError):
        return Problem(topic, -1, -1, f"A value was passed over: {error}", ProblemKind.PROCESSING)
    text = _shortened(expression_text(error.expression))
    origin = _origin(error.row)
    _, partition, offset = (False, -1, -1) if origin is None else origin
    raw = _row_text(error.columns, error.row)
    return Problem(topic, partition, offset, f"{text} gave NULL: {error}", ProblemKind.PROCESSING, "", raw)


def require_aggregates(error: Exception) -> None:
    """Fail a query that ends where an aggregate has no result: a NULL among its rows would pass for an answer. SqlProblem."""
    if isinstance(error, AggregateError):
        raise SqlProblem(
            f"{_shortened(error.call)} cannot be computed: {error}. CAST its argument to DOUBLE, or select fewer rows."
        )


def _shortened(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS_MAX else f"{text[:TEXT_CHARACTERS_MAX]}…"


def _origin(row: Sequence[Any]) -> Origin | None:
    """Behind the columns of a row; no value of a column is a tuple."""
    return next((value for value in reversed(row) if isinstance(value, tuple)), None)


def _row_text(columns: Sequence[str], row: Sequence[Any]) -> str:
    named = dict(zip(columns, row, strict=False))
    return orjson.dumps(named, default=_plain, option=_JSON).decode(errors="replace")[:RAW_BYTES_MAX]


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else str(value)


_JSON: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
