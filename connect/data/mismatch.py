"""A value that does not fit its schema."""

from __future__ import annotations

from typing import Any, Final

from connect.errors import DataError

SHOWN_MAX_CHARACTERS: Final = 80


class Mismatch(DataError):
    """`path` leads to the place, such as `orders[3].price`; `reason` says what is wrong there."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path

    def inside(self, step: str) -> Mismatch:
        """The same, told from one level further out."""
        rest = self.path if not self.path or self.path.startswith("[") else f".{self.path}"
        return Mismatch(self.reason, step + rest)


def not_a(expected: str, value: Any) -> Mismatch:
    shown = repr(value)
    if len(shown) > SHOWN_MAX_CHARACTERS:
        shown = shown[:SHOWN_MAX_CHARACTERS] + "…"
    return Mismatch(f"{shown} ({type(value).__name__}) is not {expected}")
