"""How a tool ends other than by returning: with a usage table, with a message, or at once with a status."""

from __future__ import annotations

from typing import Final

from barnabas.client.client_error import ClientError

SUCCESS: Final = 0
FAILURE: Final = 1
# What a JVM returns when the signal of Ctrl-C ends it.
INTERRUPTED: Final = 130


class UsageError(Exception):
    """A command line that makes no sense: the message and the table of options go to standard error, status 1."""

    def __init__(self, message: str, table: str) -> None:
        super().__init__(message)
        self.message = message
        self.table = table


class ToolError(ClientError):
    """A failure of a tool. Its message goes to standard error."""


class ToolExit(Exception):
    """The end of the tool; everything has been printed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
