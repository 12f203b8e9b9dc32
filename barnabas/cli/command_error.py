"""What a command says when it cannot do what it was asked to."""

from __future__ import annotations

from typing import Final

EXIT_UNREACHABLE: Final = 3
"""Of every command that cannot reach its service."""


class CommandError(Exception):
    """What failed, and what to do about it. `status` is that of the command."""

    def __init__(self, message: str, hint: str = "", status: int = 1) -> None:
        super().__init__(f"{message}\n  {hint}" if hint else message)
        self.status = status
