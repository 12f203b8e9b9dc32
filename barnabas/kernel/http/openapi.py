"""`/openapi.json`: the OpenAPI document of the routes that a service serves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import orjson
from starlette.responses import Response

from barnabas.kernel.http.answers import JsonAnswer
from barnabas.kernel.http.operation import SERVICE_TAG, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import OBJECT, Schema, shapes_in

OPENAPI_VERSION: Final = "3.1.0"
PATH: Final = "/openapi.json"

_OPERATION: Final = Operation("getOpenApi", SERVICE_TAG, "Get this document", {200: content(OBJECT)})
_IN_BRACES: Final = re.compile(r"\{(\w+)\}")

Origin: TypeAlias = Callable[[Request], str]
"""Where the client reaches the service: scheme, host and port."""


@dataclass(frozen=True, slots=True)
class Api:
    """What a document says about the API as a whole. A parameter in a path has the same meaning in every path."""

    title: str
    version: str
    description: str
    path_parameters: Mapping[str, tuple[Schema, str]]
    """The schema and the meaning of each, by name."""


def with_document(api: Api, routes: Iterable[Route], origin: Origin | None = None) -> Sequence[Route]:
    """The routes, and the one that serves their document."""
    return _DocumentPage(api, routes, origin or _requested_origin).routes


def document(api: Api, routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        parameters = [
            Parameter(name, *api.path_parameters[name], place="path") for name in _IN_BRACES.findall(route.template)
        ]
        paths.setdefault(route.template, {})[route.method.lower()] = route.operation.described(parameters)
    shapes: dict[str, Schema] = {}
    for shape in shapes_in(paths):
        known = shapes.setdefault(shape.name, shape.schema)
        assert known == shape.schema, f"two schemas are named {shape.name}"
    tags = dict.fromkeys(tag for methods in paths.values() for each in methods.values() for tag in each["tags"])
    return {
        "openapi": OPENAPI_VERSION,
        "info": {"title": api.title, "version": api.version, "description": api.description},
        "tags": [{"name": tag} for tag in tags],
        "paths": paths,
        "components": {"schemas": shapes},
    }


class _DocumentPage:
    """Serialises the document when it is first requested: only the servers in it depend on the request."""

    def __init__(self, api: Api, routes: Iterable[Route], origin: Origin) -> None:
        self.routes = (*routes, Route("GET", PATH, self.get, _OPERATION))
        self._api = api
        self._origin = origin

    async def get(self, request: Request) -> Response:
        servers = orjson.dumps([{"url": self._origin(request)}])
        return JsonAnswer(b'{"servers":%b,%b' % (servers, self._members))

    @cached_property
    def _members(self) -> bytes:
        """The rest of the JSON object after its opening brace."""
        return orjson.dumps(document(self._api, self.routes))[1:]


def _requested_origin(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}"
