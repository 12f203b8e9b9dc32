"""Every plugin that configurations may name: our own, those of installed packages, and those of single files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.errors import ConnectError
from connect.plugins import plugin_files

ENTRY_POINTS: Final = "barnabas.connectors"
"""The group of entry points; each is a plugin, or a sequence of plugins."""

_OWN_MODULES: Final = (
    "connect.connectors.datagen.plugins",
    "connect.connectors.file.plugins",
    "connect.connectors.http.plugins",
    "connect.connectors.jdbc.plugins",
    "connect.connectors.null.plugins",
    "connect.converters.plugins",
    "connect.transforms.plugins",
)
_SUFFIX: Final = "Connector"

_logger = logging.getLogger(__name__)


_INTERFACES: Final = {
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
}
"""What Java's classes implement that are no connectors."""


class UnknownPlugin(ConnectError):
    """No plugin has the name that a configuration gives."""


class Plugins:
    """The plugins by their names: the class, the class without its package, that without `Connector`, the short name, the aliases."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self._plugins = tuple(plugins)
        self._by_name: dict[tuple[str, PluginKind], Plugin] = {}
        for plugin in self._plugins:
            for name in _names(plugin):
                self._by_name.setdefault((name, plugin.kind), plugin)

    def __iter__(self) -> Iterator[Plugin]:
        return iter(self._plugins)

    def find(self, name: str, kinds: Sequence[PluginKind]) -> Plugin:
        """UnknownPlugin with the nearest name when none of these kinds has it."""
        for kind in kinds:
            found = self._by_name.get((name, kind))
            if found is not None:
                return found
        known = [plugin.class_name for plugin in self._plugins if plugin.kind in kinds]
        near = get_close_matches(name, [known_name for known_name, kind in self._by_name if kind in kinds], 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        interface = _INTERFACES.get(kinds[0], "Connector")
        # Kafka's words: clients look for them, and then list what there is.
        raise UnknownPlugin(
            f"Failed to find any class that implements {interface} and which name matches {name}{hint}, "
            f"available {interface.lower()}s are: {', '.join(sorted(known))}"
        )


def installed(paths: Iterable[str] = ()) -> Plugins:
    """Our own plugins, those of installed packages, and those of the files of `plugin.path`.

    A package that cannot be loaded is told of, and passed over.
    """
    return Plugins([*own_plugins(), *_of_packages(), *plugin_files.load(paths)])


def own_plugins() -> Iterator[Plugin]:
    """Those that need nothing to be installed."""
    for module in _OWN_MODULES:
        yield from import_module(module).PLUGINS


def _of_packages() -> Iterator[Plugin]:
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            loaded = entry.load()
            yield from [loaded] if isinstance(loaded, Plugin) else loaded
        except Exception:
            _logger.exception("the plugin %s (%s) cannot be loaded", entry.name, entry.value)


def _names(plugin: Plugin) -> Iterator[str]:
    for name in (plugin.class_name, *plugin.aliases):
        simple = name.rpartition(".")[2]
        yield from (name, simple, simple.removesuffix(_SUFFIX))
    yield plugin.name
