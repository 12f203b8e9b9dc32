"""Expressions and aggregates that failed, and so gave NULL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streams_sql.typed import Typed


class ExpressionError(Exception):
    """`columns` are the names of the first values of `row`; behind them may stand where the row came from, and parameters of lambdas."""

    def __init__(self, cause: Exception, expression: Typed, columns: Sequence[str], row: Sequence[Any]) -> None:
        super().__init__(str(cause) or type(cause).__name__)
        self.cause = cause
        self.expression = expression
        self.columns = columns
        self.row = row


class AggregateError(Exception):
    """The result of an aggregate could not be computed. `call` is its text."""

    def __init__(self, cause: Exception, call: str) -> None:
        super().__init__(str(cause) or type(cause).__name__)
        self.call = call
