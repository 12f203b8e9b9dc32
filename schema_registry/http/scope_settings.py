"""`/config` and `/mode`: what holds in a scope."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.responses import Response

from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from schema_registry.errors import ConfigNotFound, InvalidMode, ModeNotFound
from schema_registry.http import parameters
from schema_registry.http.media import answer
from schema_registry.http.resource import Resource
from schema_registry.operations.settings import MODES_TEXT

LEVEL_IN_REQUESTS = "compatibility"


class ScopeSettingsPaths(Resource):
    """The handlers of `/config` and `/mode`."""

    def routes(self) -> Iterator[Route]:
        for path in ("/config", "/config/{subject}"):
            yield Route("GET", path, self.config, cached=True)
            yield Route("PUT", path, self.update_config)
            yield Route("DELETE", path, self.delete_config)
        for path in ("/mode", "/mode/{subject}"):
            yield Route("GET", path, self.mode, cached=True)
            yield Route("PUT", path, self.set_mode)
            yield Route("DELETE", path, self.delete_mode)

    async def config(self, request: Request) -> Response:
        scope, scopes = parameters.scope(request), self.registry.scopes
        config = scopes.config(scope) if request.flag("defaultToGlobal") else scopes.config_at(scope)
        if config is None:
            raise ConfigNotFound(scope or "")
        return answer(request, config.to_json())

    async def update_config(self, request: Request) -> Response:
        scope = parameters.scope(request)
        body = await parameters.json_object(request, "updateSubjectLevelConfig" if scope else "updateTopLevelConfig")

        async def update() -> Response:
            config = await self.registry.update_config(scope, body)
            return answer(request, config.to_json(LEVEL_IN_REQUESTS))

        return await self.lead(request, update)

    async def delete_config(self, request: Request) -> Response:
        scope = parameters.scope(request)

        async def delete() -> Response:
            return answer(request, (await self.registry.delete_config(scope)).to_json())

        return await self.lead(request, delete)

    async def mode(self, request: Request) -> Response:
        scope, scopes = parameters.scope(request), self.registry.scopes
        mode = scopes.mode(scope) if request.flag("defaultToGlobal") else scopes.mode_at(scope)
        if mode is None:
            raise ModeNotFound(scope or "")
        return answer(request, {"mode": mode.value})

    async def set_mode(self, request: Request) -> Response:
        scope, force = parameters.scope(request), request.flag("force")
        body = await parameters.json_object(request, "updateMode" if scope else "updateTopLevelMode")
        text = body.get("mode", "")
        if text is not None and not isinstance(text, str):
            raise InvalidMode(MODES_TEXT)

        async def set_mode() -> Response:
            await self.registry.set_mode(scope, text, force=force)
            return answer(request, {"mode": text})

        return await self.lead(request, set_mode)

    async def delete_mode(self, request: Request) -> Response:
        scope, recursive = parameters.scope(request), request.flag("recursive")

        async def delete() -> Response:
            mode = await self.registry.delete_mode(scope, recursive=recursive)
            return answer(request, {} if mode is None else {"mode": mode.value})

        return await self.lead(request, delete)
