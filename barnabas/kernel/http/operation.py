"""What a route does, for those who call it: one OpenAPI operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from barnabas.kernel.http.answers import JSON_TYPE
from barnabas.kernel.http.schema import INTEGER, STRING, Schema, Shape, open_object

Content: TypeAlias = Mapping[str, Mapping[str, Any]]
"""A body by its content types; empty: there is no body."""

SERVICE_TAG: Final = "Service"
"""Of operations that are about the service itself."""
NO_BODY: Final[Content] = {}
ERROR: Final = Shape("Error", open_object({"error_code": INTEGER, "message": STRING}))
READ_ERRORS: Final = (400, 401, 403, 404, 408, 421, 500, 503)
"""Statuses with which any route of an application may reject a request."""
WRITE_ERRORS: Final = (*READ_ERRORS, 413, 415)
"""The same for routes that read a body."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query; `place` may be another of OpenAPI's."""

    name: str
    schema: Schema
    summary: str
    place: str = "query"

    def described(self) -> dict[str, Any]:
        required = {"required": True} if self.place == "path" else {}
        return {"name": self.name, "in": self.place, "description": self.summary, **required, "schema": self.schema}


@dataclass(frozen=True, slots=True)
class Operation:
    """`id` is what generators of clients name their functions by. `responses` has the content for each status."""

    id: str
    tag: str
    summary: str
    responses: Mapping[int, Content]
    parameters: tuple[Parameter, ...] = ()
    body: Content = field(default_factory=dict)
    needs_body: bool = True

    def described(self, path_parameters: list[Parameter]) -> dict[str, Any]:
        """The Operation Object of OpenAPI."""
        described: dict[str, Any] = {
            "tags": [self.tag],
            "operationId": self.id,
            "summary": self.summary,
            "parameters": [parameter.described() for parameter in (*path_parameters, *self.parameters)],
            "responses": {str(status): _response(status, self.responses[status]) for status in sorted(self.responses)},
        }
        if self.body:
            described["requestBody"] = {"required": self.needs_body, "content": self.body}
        return described


def content(schema: Schema, *types: str, example: Any = None) -> Content:
    """A body of one schema, in any of some content types; JSON if none is given."""
    example_member = {} if example is None else {"example": example}
    return {media_type: {"schema": schema, **example_member} for media_type in types or (JSON_TYPE,)}


def _response(status: int, body: Content) -> dict[str, Any]:
    return {"description": HTTPStatus(status).phrase, **({"content": body} if body else {})}
