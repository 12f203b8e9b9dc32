"""The plugins, their settings, and whether a configuration is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, list_of
from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import Key, keys_of
from connect.config.connector_keys import CONNECTOR_KEYS
from connect.config.definition import CONNECTOR_VERSION
from connect.http import bodies, shapes
from connect.http.operation import read, write
from connect.http.problems import BAD_REQUEST, NOT_FOUND
from connect.http.startup import Startup
from connect.plugins.catalogue import Plugins, UnknownPlugin

_CONNECTORS: Final = (PluginKind.SOURCE, PluginKind.SINK)
_SUFFIX: Final = "Connector"

_TAG: Final = "Plugins"
_LIST: Final = read(
    "listConnectorPlugins",
    _TAG,
    "List plugins",
    list_of(shapes.PLUGIN),
    Parameter("connectorsOnly", BOOLEAN, "Whether only connectors are listed; true when it is not given."),
)
_CONFIG: Final = read("getConnectorConfigDef", _TAG, "List the settings of a plugin", list_of(shapes.KEY))
_VALIDATE: Final = write(
    "validateConfigs",
    _TAG,
    "Check a configuration",
    {200: shapes.VALIDATION},
    body=bodies.SOME_SETTINGS,
    example=bodies.EXAMPLE,
)


class PluginPages:
    def __init__(self, plugins: Plugins, startup: Startup) -> None:
        self._plugins = plugins
        self._startup = startup

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/connector-plugins", self.all, _LIST)
        yield Route("GET", "/connector-plugins/{plugin}/config", self.config, _CONFIG)
        yield Route("PUT", "/connector-plugins/{plugin}/config/validate", self.validate, _VALIDATE)

    async def all(self, request: Request) -> Response:
        connectors_only = (request.query_value("connectorsOnly") or "true").lower() == "true"
        chosen = [plugin for plugin in self._plugins if not connectors_only or plugin.kind in _CONNECTORS]
        return json_answer(
            [shapes.plugin(each) for each in sorted(chosen, key=lambda each: (each.class_name, each.kind.value))]
        )

    async def config(self, request: Request) -> Response:
        name = request.path_value("plugin")
        try:
            found = self._plugins.find(name, tuple(PluginKind))
        except UnknownPlugin:
            raise HttpError(NOT_FOUND, f"Unknown plugin {name}.") from None
        return json_answer([shapes.key_definition(key) for key in _keys(found)])

    async def validate(self, request: Request) -> Response:
        name = request.path_value("plugin")
        given = await bodies.some_settings(request)
        config = {key: text for key, text in given.items() if text is not None}
        self._require_same(name, config)
        validation = await self._startup.herder.validate(config)
        for entry in validation.entries:
            if entry.key.name in given and given[entry.key.name] is None:
                entry.value = None
                entry.errors.append(bodies.NULL_VALUE)
        return json_answer(shapes.validation(validation))

    def _require_same(self, name: str, config: Mapping[str, str]) -> None:
        """The class in the body must be that of the path, by whichever of its names."""
        given = config.get("connector.class")
        if given is None or name.removesuffix(_SUFFIX) == given.removesuffix(_SUFFIX):
            # That there is none, or no such one, is for the worker to say.
            return
        if self._found(name) is not self._found(given):
            raise HttpError(BAD_REQUEST, f"Included connector type {given} does not match request type {name}")

    def _found(self, name: str) -> Plugin | None:
        try:
            return self._plugins.find(name, _CONNECTORS)
        except UnknownPlugin:
            return None


def _keys(plugin: Plugin) -> Iterator[Key]:
    yield from keys_of(plugin.settings_type).values()
    for key in CONNECTOR_KEYS.get(plugin.kind, ()):
        yield replace(key, default=plugin.version) if key.name == CONNECTOR_VERSION else key
