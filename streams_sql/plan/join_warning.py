"""What the owner of a query should know of a join in which nothing has failed."""

from __future__ import annotations


class JoinWarning(Exception):
    """Reported where errors of expressions are, although nothing has failed. `join` names the join; without `text`, an earlier warning
    about it does not hold any more."""

    def __init__(self, join: str, text: str = "") -> None:
        super().__init__(text)
        self.join = join
        self.text = text
