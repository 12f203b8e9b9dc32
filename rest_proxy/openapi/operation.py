"""What a client may ask for: one declaration for each method of a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from rest_proxy.openapi.schema import INT32, NAME, TOPIC_NAME, Schema

_IN_BRACES: Final = re.compile(r"\{(\w+)\}")
_NOT_IN_IDS: Final = re.compile(r"\W+")

# Parameters of a path have the same meaning wherever they stand.
_PATH_PARAMETERS: Final[dict[str, tuple[Schema, str]]] = {
    "broker_id": (INT32, "The number of a broker."),
    "cluster_id": (NAME, "The id of the cluster, as /v3/clusters tells it."),
    "consumer_id": (NAME, "The id of a member of the group."),
    "group": (NAME, "A consumer group."),
    "group_id": (NAME, "A consumer group."),
    "instance": (NAME, "The consumer instance, as it was named when it was opened."),
    "name": (NAME, "The name of a config."),
    "partition": (INT32, "The number of a partition."),
    "partition_id": (INT32, "The number of a partition."),
    "topic": (TOPIC_NAME, "The name of a topic."),
    "topic_name": (TOPIC_NAME, "The name of a topic."),
}


@dataclass(frozen=True, slots=True)
class Content:
    """A body, in any of some content types."""

    schema: Schema
    types: tuple[str, ...]
    example: Any = None

    def described(self) -> dict[str, Any]:
        shown = {} if self.example is None else {"example": self.example}
        return {media_type: {"schema": self.schema, **shown} for media_type in self.types}


@dataclass(frozen=True, slots=True)
class Contents:
    """A body whose shape depends on its type."""

    parts: tuple[Content, ...]

    def described(self) -> dict[str, Any]:
        return {media_type: shape for part in self.parts for media_type, shape in part.described().items()}


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a query or a header may say."""

    name: str
    schema: Schema
    summary: str
    place: str = "query"

    def described(self) -> dict[str, Any]:
        return {"name": self.name, "in": self.place, "description": self.summary, "schema": self.schema}


@dataclass(frozen=True, slots=True)
class Operation:
    """`answers` are those to a request that succeeds: None for one without a body. `errors` are statuses."""

    method: str
    path: str
    tag: str
    summary: str
    answers: Mapping[int, Content | None]
    errors: frozenset[int] = frozenset()
    error_types: tuple[str, ...] = ("application/json",)
    parameters: tuple[Parameter, ...] = ()
    body: Content | Contents | None = None
    needs_body: bool = field(default=True, kw_only=True)

    def described(self) -> dict[str, Any]:
        """As OpenAPI puts it."""
        found: dict[str, Any] = {
            "tags": [self.tag],
            "operationId": _NOT_IN_IDS.sub("_", f"{self.method.lower()}{self.path}").rstrip("_"),
            "summary": self.summary,
            "parameters": [*self._path_parameters(), *(parameter.described() for parameter in self.parameters)],
            "responses": dict(self._responses()),
        }
        if self.body is not None:
            found["requestBody"] = {"required": self.needs_body, "content": self.body.described()}
        return found

    def _path_parameters(self) -> Iterator[dict[str, Any]]:
        for name in _IN_BRACES.findall(self.path):
            schema, summary = _PATH_PARAMETERS[name]
            yield {"name": name, "in": "path", "required": True, "description": summary, "schema": schema}

    def _responses(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for status, content in self.answers.items():
            body = {} if content is None else {"content": content.described()}
            yield str(status), {"description": HTTPStatus(status).phrase, **body}
        error = Content({"$ref": "#/components/schemas/Error"}, self.error_types)
        for status in sorted(self.errors):
            yield str(status), {"description": HTTPStatus(status).phrase, "content": error.described()}
