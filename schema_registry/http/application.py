"""The HTTP application of the registry: its paths, and what all of them share."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.application import Application, Policy
from barnabas.kernel.http.error_answers import ErrorAnswers
from barnabas.kernel.http.openapi import with_document
from barnabas.kernel.http.router import Router
from schema_registry.http.compatibility import CompatibilityChecks
from schema_registry.http.context_paths import is_context_path, rewritten
from schema_registry.http.contexts import Contexts
from schema_registry.http.media import V1, error_type
from schema_registry.http.operation import API
from schema_registry.http.parameters import MODERN_HEADER, VERSION_HEADER
from schema_registry.http.problems import Problems
from schema_registry.http.resource import ListLimits
from schema_registry.http.schemas import Schemas
from schema_registry.http.scope_settings import ScopeSettingsPaths
from schema_registry.http.service import ServiceStatus
from schema_registry.http.subjects import Subjects
from schema_registry.node import Node
from schema_registry.registry import Registry

BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Profile:
    """Which age of Confluent's servers clients see: the code of an incompatible schema, and who is told the members that came with 8.0."""

    incompatible_code: int
    modern_for_all: bool


class RegistryApplication:
    """Answers requests. `changed` is to be called after every change of the state, since answers are kept until then."""

    def __init__(
        self,
        registry: Registry,
        node: Node,
        status: ServiceStatus,
        limits: ListLimits,
        policy: Policy,
        profile: Profile,
    ) -> None:
        self._profile = profile
        self._cache = AnswerCache(vary=[MODERN_HEADER, VERSION_HEADER])
        resources = (
            Schemas(registry, node, limits),
            Subjects(registry, node, limits),
            CompatibilityChecks(registry, node, limits),
            ScopeSettingsPaths(registry, node, limits),
            Contexts(registry, node, limits),
            status,
        )
        self._application: ASGIApp = Application(
            Router(with_document(API, (route for resource in resources for route in resource.routes()))),
            status.metrics,
            errors=ErrorAnswers(Problems(profile.incompatible_code).translate, error_type),
            cache=self._cache,
            policy=policy,
        )

    def changed(self) -> None:
        self._cache.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_context_path(scope["raw_path"]):
            try:
                path, query = rewritten(scope["raw_path"], scope["query_string"])
            except ValueError as problem:
                refusal = json_answer({"error_code": BAD_REQUEST, "message": str(problem)}, BAD_REQUEST, media_type=V1)
                await refusal(scope, receive, send)
                return
            scope = {**scope, "raw_path": path, "query_string": query}
        if self._profile.modern_for_all:
            scope = {**scope, "headers": [*scope["headers"], (MODERN_HEADER.encode(), b"true")]}
        await self._application(scope, receive, send)
