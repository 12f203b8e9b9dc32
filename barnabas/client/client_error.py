"""Errors of the client library."""

from __future__ import annotations


class ClientError(Exception):
    """An operation that cannot be carried out. The message is meant for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
