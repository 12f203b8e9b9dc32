"""Data and schemas that do not go together."""

from __future__ import annotations

from typing import Final

INSTALL_HINT: Final = "pip install 'barnabas[registry]'"


class SerdesError(ValueError):
    """A value that a schema refuses, bytes that are no such value, or a schema that cannot be used."""


class ValueMismatchError(SerdesError):
    """A value that does not fit its schema: `path` leads to the place, `reason` says what is wrong there."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"at {self.path}: {self.reason}" if self.path else self.reason

    def inside(self, step: str) -> ValueMismatchError:
        """The same mismatch, told from one level further out."""
        rest = self.path if not self.path or self.path.startswith("[") else f".{self.path}"
        return ValueMismatchError(self.reason, step + rest)


class MissingLibraryError(SerdesError):
    """A format whose library is not installed."""

    def __init__(self, form: str, module: str) -> None:
        super().__init__(f"{form} data needs the library {module!r}: {INSTALL_HINT}")
