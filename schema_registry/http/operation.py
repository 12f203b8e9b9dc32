"""What operations of the registry have in common."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http import operation
from barnabas.kernel.http.openapi import Api
from barnabas.kernel.http.operation import ERROR, NO_BODY, Content, Operation, Parameter, content
from barnabas.kernel.http.schema import NAME, STRING, Schema
from schema_registry.http.media import ANSWER_TYPES, BODY_TYPES
from schema_registry.http.parameters import ID

API: Final = Api(
    "Barnabas Schema Registry",
    "1",
    "Subjects, versions and compatibility of schemas. Each path may begin with /contexts/{context}: it is then about that context.",
    {
        "context": (NAME, "The name of a context, which begins with a dot."),
        "guid": (NAME, "The GUID of a schema."),
        "id": (ID, "The id of a schema."),
        "name": (NAME, "The name of a resource."),
        "namespace": (NAME, "The namespace of a resource; - stands for any."),
        "subject": (NAME, "A subject; in another context than the default one, :.context:subject."),
        "version": (STRING, "The number of a version, or latest."),
    },
)
_ERROR: Final = content(ERROR, *ANSWER_TYPES)
READ_ERRORS: Final = dict.fromkeys((*operation.READ_ERRORS, 406, 422), _ERROR)
WRITE_ERRORS: Final = dict.fromkeys((*operation.WRITE_ERRORS, 406, 409, 422), _ERROR)


def read(name: str, tag: str, summary: str, response: Schema, *parameters: Parameter) -> Operation:
    return Operation(name, tag, summary, {200: content(response, *ANSWER_TYPES), **READ_ERRORS}, parameters)


def write(
    name: str,
    tag: str,
    summary: str,
    response: Schema,
    *parameters: Parameter,
    body: Schema | None = None,
    example: object = None,
) -> Operation:
    responses = {200: content(response, *ANSWER_TYPES), **WRITE_ERRORS}
    given: Content = NO_BODY if body is None else content(body, *BODY_TYPES, example=example)
    return Operation(name, tag, summary, responses, parameters, given)
