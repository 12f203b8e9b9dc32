"""The OpenAPI document of what an instance serves, and the page that shows it to people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson
from starlette.responses import Response

from barnabas.kernel.http.answers import JSON_TYPE
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.settings import Settings
from rest_proxy.openapi import operations_v2, operations_v3, shapes_v2, shapes_v3
from rest_proxy.openapi.docs_page import PAGE
from rest_proxy.openapi.operation import Content, Operation
from rest_proxy.openapi.schema import INT32, TEXT, Schema, answered
from rest_proxy.proxy import Proxy

OPENAPI_VERSION: Final = "3.1.0"
API_VERSION: Final = "3"
"""Of the newest API that is described, not of the service: clients need not care for that."""

_ERROR: Final[dict[str, Schema]] = {"Error": answered({"error_code": INT32, "message": TEXT})}
_READY: Final = Content(answered({"ready": {"type": "boolean"}}), (JSON_TYPE,))
_HEALTH: Final = Content(answered({"healthy": {"type": "boolean"}, "status": {"type": "object"}}), (JSON_TYPE,))
_CHECKED: Final = Content(
    answered({"status": TEXT, "message": TEXT, "service": TEXT, "checks": {"type": "object"}}), (JSON_TYPE,)
)
_ALIVE: Final = Content(answered({"status": TEXT}), (JSON_TYPE,))
_SERVICE: Final = (
    Operation("GET", "/health", "Service", "Tell what works, and what does not", {200: _CHECKED, 503: _CHECKED}),
    Operation("GET", "/health/live", "Service", "Tell that the service answers", {200: _ALIVE}),
    Operation("GET", "/_health", "Service", "Tell whether Kafka answers, and why not", {200: _HEALTH, 503: _HEALTH}),
    Operation("GET", "/status/ready", "Service", "Tell whether requests would be served", {200: _READY, 503: _READY}),
    Operation("GET", "/metrics", "Service", "Tell metrics to Prometheus", {200: Content(TEXT, ("text/plain",))}),
    Operation("GET", "/openapi.json", "Service", "This document", {200: Content({"type": "object"}, (JSON_TYPE,))}),
    Operation("GET", "/docs", "Service", "This document for people", {200: Content(TEXT, ("text/html",))}),
)


def routes(proxy: Proxy) -> Iterator[Route]:
    described = document(proxy.settings)

    async def tell(request: Request) -> Response:
        # Generators of clients want to know where the service is, which depends on who asks.
        servers = [{"url": proxy.origins.of(request)}]
        return Response(orjson.dumps({**described, "servers": servers}), media_type=JSON_TYPE)

    async def show(_request: Request) -> Response:
        return Response(PAGE, media_type="text/html")

    yield Route("GET", "/openapi.json", tell)
    yield Route("GET", "/docs", show)


def document(settings: Settings) -> dict[str, Any]:
    """Describes the APIs that are switched on."""
    operations: list[Operation] = []
    shapes = dict(_ERROR)
    if settings.boolean("api.v3.enable"):
        operations += operations_v3.OPERATIONS
        shapes |= shapes_v3.SHAPES
    if settings.boolean("api.v2.enable"):
        operations += operations_v2.OPERATIONS
        shapes |= shapes_v2.SHAPES
    operations += _SERVICE
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": "Barnabas REST Proxy",
            "version": API_VERSION,
            "description": "Kafka over HTTP: produce, consume, stream and administer.",
        },
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
        "paths": _paths(operations),
        "components": {"schemas": shapes},
    }


def _paths(operations: Iterable[Operation]) -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = operation.described()
    return paths
