"""Why a value did not become bytes, or bytes no value."""

from __future__ import annotations


class FormatFailure(Exception):
    """What all of them have: a message for the client."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidData(FormatFailure):
    """A value that its format or its schema refuses, or a choice of a schema that makes no sense; says where and why."""


class InvalidSchema(FormatFailure):
    """A schema that is none, or not of the format that the request has."""


class SchemaRefused(FormatFailure):
    """The registry has no such schema, or does not take it."""


class SchemaForbidden(FormatFailure):
    """The registry does not let us."""


class RegistryUnavailable(FormatFailure):
    """The registry does not answer, or is in trouble itself."""


class Undecodable(FormatFailure):
    """Bytes of a record that are not what the client asked for."""
