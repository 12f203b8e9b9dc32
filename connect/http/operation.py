"""What operations of the worker have in common: requests and responses are JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.kernel.http import operation
from barnabas.kernel.http.openapi import Api
from barnabas.kernel.http.operation import ERROR, NO_BODY, Content, Operation, Parameter, content
from barnabas.kernel.http.schema import INT32, NAME, Schema

API: Final = Api(
    "Barnabas Connect",
    "1",
    "Connectors, their tasks, offsets and plugins.",
    {
        "connector": (NAME, "The name of a connector."),
        "logger": (NAME, "The name of a logger, or root."),
        "plugin": (NAME, "The class of a plugin, or its short name."),
        "task": (INT32, "The number of a task."),
    },
)
READ_ERRORS: Final = dict.fromkeys((*operation.READ_ERRORS, 406, 409), content(ERROR))
WRITE_ERRORS: Final = dict.fromkeys((*operation.WRITE_ERRORS, 406, 409), content(ERROR))


def read(name: str, tag: str, summary: str, response: Schema, *parameters: Parameter) -> Operation:
    return Operation(name, tag, summary, {200: content(response), **READ_ERRORS}, parameters)


def write(
    name: str,
    tag: str,
    summary: str,
    responses: Mapping[int, Schema | None],
    *parameters: Parameter,
    body: Schema | None = None,
    example: object = None,
) -> Operation:
    """A status without a schema has no body."""
    found = {status: NO_BODY if schema is None else content(schema) for status, schema in responses.items()}
    given: Content = NO_BODY if body is None else content(body, example=example)
    return Operation(name, tag, summary, {**found, **WRITE_ERRORS}, parameters, given)
