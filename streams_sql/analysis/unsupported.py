"""What is right, but cannot be run yet."""

from __future__ import annotations

from streams_sql.language.problem import Position, SqlProblem


class NotSupportedYet(SqlProblem):
    def __init__(self, what: str, instead: str, position: Position | None = None) -> None:
        super().__init__(f"{what} not supported yet. {instead}", position)
