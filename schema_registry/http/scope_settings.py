"""`/config` and `/mode`: what holds in a scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.operation import Operation, Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, STRING, Schema, Shape, enum, open_object
from schema_registry.config import LEVELS, POLICIES
from schema_registry.errors import ConfigNotFound, InvalidMode, ModeNotFound
from schema_registry.http import parameters
from schema_registry.http.media import answer
from schema_registry.http.operation import read, write
from schema_registry.http.resource import Resource
from schema_registry.http.shapes import METADATA, RULE_SET
from schema_registry.mode import Mode
from schema_registry.operations.settings import MODES_TEXT

LEVEL_IN_REQUESTS = "compatibility"

_CONFIG: Final[dict[str, Schema]] = {
    "alias": STRING,
    "aliasForDeks": STRING,
    "normalize": BOOLEAN,
    "validateFields": BOOLEAN,
    "validateNewSchemas": BOOLEAN,
    "validateRules": BOOLEAN,
    "compatibilityPolicy": enum(*POLICIES),
    "compatibilityGroup": STRING,
    "defaultMetadata": METADATA,
    "overrideMetadata": METADATA,
    "defaultRuleSet": RULE_SET,
    "overrideRuleSet": RULE_SET,
}
_LEVEL: Final = enum(*LEVELS)
CONFIG: Final = Shape("Config", open_object({}, {"compatibilityLevel": _LEVEL, **_CONFIG}))
CONFIG_REQUEST: Final = Shape("ConfigUpdate", open_object({}, {LEVEL_IN_REQUESTS: _LEVEL, **_CONFIG}))
_MODE: Final = enum(*[mode.value for mode in Mode])
MODE: Final = Shape("Mode", open_object({"mode": _MODE}))
_CONFIGS: Final = "Config"
_MODES: Final = "Modes"


def _get_config(scope: str) -> Operation:
    return read(f"get{scope}Config", _CONFIGS, "Get the configuration of a scope", CONFIG, parameters.DEFAULT_TO_GLOBAL)


def _put_config(scope: str) -> Operation:
    summary = "Change the configuration of a scope"
    return write(
        f"update{scope}Config",
        _CONFIGS,
        summary,
        CONFIG_REQUEST,
        body=CONFIG_REQUEST,
        example={LEVEL_IN_REQUESTS: "FULL"},
    )


def _delete_config(scope: str) -> Operation:
    return write(f"delete{scope}Config", _CONFIGS, "Delete the configuration of a scope", CONFIG)


def _get_mode(scope: str) -> Operation:
    return read(f"get{scope}Mode", _MODES, "Get the mode of a scope", MODE, parameters.DEFAULT_TO_GLOBAL)


def _put_mode(scope: str) -> Operation:
    return write(
        f"update{scope}Mode",
        _MODES,
        "Set the mode of a scope",
        MODE,
        parameters.FORCE,
        body=MODE,
        example={"mode": "READWRITE"},
    )


def _delete_mode(scope: str) -> Operation:
    recursive = Parameter("recursive", BOOLEAN, "Whether the modes of all subjects in the scope are deleted as well.")
    deleted = open_object({}, {"mode": _MODE})
    return write(f"delete{scope}Mode", _MODES, "Delete the mode of a scope", deleted, recursive)


class ScopeSettingsPaths(Resource):
    """The handlers of `/config` and `/mode`."""

    def routes(self) -> Iterator[Route]:
        for path, scope in (("/config", "TopLevel"), ("/config/{subject}", "SubjectLevel")):
            yield Route("GET", path, self.config, _get_config(scope), cached=True)
            yield Route("PUT", path, self.update_config, _put_config(scope))
            yield Route("DELETE", path, self.delete_config, _delete_config(scope))
        for path, scope in (("/mode", "TopLevel"), ("/mode/{subject}", "SubjectLevel")):
            yield Route("GET", path, self.mode, _get_mode(scope), cached=True)
            yield Route("PUT", path, self.set_mode, _put_mode(scope))
            yield Route("DELETE", path, self.delete_mode, _delete_mode(scope))

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
