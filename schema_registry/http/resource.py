"""What the handlers of all paths have: the registry, the way to the leader, and the limits of lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from schema_registry.http import parameters
from schema_registry.http.media import answer_type
from schema_registry.http.parameters import PageLimits
from schema_registry.registry import Registry
from schema_registry.state.version import Version
from schema_registry.subject import Subject


class Cluster(Protocol):
    """The instances of one registry, of which one writes."""

    async def lead(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Do a write here if this instance leads; otherwise let the leader do it."""

    async def catch_up(self) -> None:
        """Read what others have written, so that what is not there then does not exist."""


@dataclass(frozen=True, slots=True)
class ListLimits:
    """How long lists may be."""

    schemas: PageLimits
    versions: PageLimits
    subjects: PageLimits
    contexts: PageLimits


class Resource:
    """The handlers of some paths."""

    def __init__(self, registry: Registry, cluster: Cluster, limits: ListLimits) -> None:
        self.registry = registry
        self.cluster = cluster
        self.limits = limits

    async def lead(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Let the leader write, unless the client would not take the answer."""
        answer_type(request)
        return await self.cluster.lead(request, act)

    def subject(self, request: Request) -> str:
        """The subject that a path names, or the one that it is an alias of."""
        return self.resolved(parameters.subject(request))

    def resolved(self, subject: str) -> str:
        config = self.registry.state.configs.at(subject)
        if config is None or not config.alias:
            return subject
        return str(Subject.parse(subject).beside(config.alias))

    def formatted(self, version: Version, form: str) -> str | None:
        """The text in another form; None when the stored one is wanted."""
        return self.registry.parser.stored(version).formatted(form) if form.strip() else None
