"""Routes on the raw path: what a client wrote in one segment stays in one segment, slashes and dots included."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Operation
from barnabas.kernel.http.request import Request

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
METHOD_NOT_ALLOWED: Final = 405

PATHS_KEPT_MAX: Final = 1_000
KEPT_PATH_MAX_BYTES: Final = 200
"""Clients ask for the same few paths again and again; long ones are looked for each time."""

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]

_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Route:
    """`template` has names in braces for whole segments: `/subjects/{subject}/versions`. `operation` describes it in the OpenAPI document.

    Answers of a `cached` route depend on the path, the query, the headers that the cache varies by, and a POST's body alone.
    """

    method: str
    template: str
    handler: Handler
    operation: Operation
    cached: bool = False


@dataclass(slots=True)
class _Node:
    """A place in the tree of routes. A literal segment is preferred to a parameter."""

    literals: dict[bytes, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    routes: dict[str, Route] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Router:
    """Finds the route of a request in time that depends on the length of its path alone."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._root = _Node()
        self._found: dict[tuple[str, bytes], tuple[Route, dict[str, str]]] = {}
        for route in self.routes:
            self._add(route)

    def find(self, method: str, raw_path: bytes) -> tuple[Route, dict[str, str]]:
        """The route and its parameters, decoded, which are not to be changed. A HEAD is served by the route of its GET."""
        known = self._found.get((method, raw_path))
        if known is not None:
            return known
        found = self._find(method, raw_path)
        if len(raw_path) <= KEPT_PATH_MAX_BYTES:
            if len(self._found) >= PATHS_KEPT_MAX:
                self._found.clear()
            self._found[method, raw_path] = found
        return found

    def _find(self, method: str, raw_path: bytes) -> tuple[Route, dict[str, str]]:
        node, values = self._locate(raw_path)
        found = method if method in node.routes or method != "HEAD" else "GET"
        route = node.routes.get(found)
        if route is None:
            raise HttpError(
                METHOD_NOT_ALLOWED, "HTTP 405 Method Not Allowed", headers={"allow": ", ".join(_allowed(node))}
            )
        return route, dict(zip(node.names[found], map(_decoded, values), strict=True))

    def allowed(self, raw_path: bytes) -> list[str]:
        """The methods that a path knows."""
        return _allowed(self._locate(raw_path)[0])

    def _add(self, route: Route) -> None:
        node = self._root
        names = []
        for segment in filter(None, route.template.split("/")):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literals.setdefault(segment.encode(), _Node())
        assert route.method not in node.routes, f"two routes for {route.method} {route.template}"
        node.routes[route.method] = route
        node.names[route.method] = tuple(names)

    def _locate(self, raw_path: bytes) -> tuple[_Node, list[bytes]]:
        segments = raw_path.split(b"/")
        if segments[-1] == b"":
            segments.pop()
        values: list[bytes] = []
        node = _descend(self._root, segments, 1, values) if raw_path.startswith(b"/") else None
        if node is None:
            raise HttpError(NOT_FOUND, "HTTP 404 Not Found")
        return node, values


def _descend(node: _Node, segments: list[bytes], depth: int, values: list[bytes]) -> _Node | None:
    if depth >= len(segments):
        return node if node.routes else None
    segment = segments[depth]
    literal = node.literals.get(segment)
    if literal is not None and (found := _descend(literal, segments, depth + 1, values)) is not None:
        return found
    if node.parameter is None or not segment:
        return None
    values.append(segment)
    found = _descend(node.parameter, segments, depth + 1, values)
    if found is None:
        values.pop()
    return found


def _allowed(node: _Node) -> list[str]:
    methods = {*node.routes, "OPTIONS"}
    if "GET" in methods:
        methods.add("HEAD")
    return sorted(methods)


def _decoded(segment: bytes) -> str:
    if _BAD_ESCAPE.search(segment):
        raise HttpError(
            BAD_REQUEST, f"the path segment {segment.decode('latin-1')!r} has a % that no two hexadecimal digits follow"
        )
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise HttpError(
            BAD_REQUEST, f"the path segment {segment.decode('latin-1')!r} is not UTF-8 in percent-encoding"
        ) from None
