"""A value that a column cannot take."""

from __future__ import annotations


class Mismatch(ValueError):
    """`path` leads from the place where it was raised to the value, in ksqlDB's spelling: `.FIELD`, `[0]`."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def inside(self, step: str) -> Mismatch:
        """The same mismatch, told from one level further out."""
        return Mismatch(self.reason, step + self.path)

    def __str__(self) -> str:
        return f"{self.reason}, path: ${self.path}" if self.path else self.reason
