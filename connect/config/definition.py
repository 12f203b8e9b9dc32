"""Everything that a connector's configuration may say, worked out from what it says: which transforms it names, which converters."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Kind
from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import Importance, Key, Width, keys_of, read
from connect.config.connector_keys import CONNECTOR_KEYS
from connect.errors import InvalidSettings
from connect.plugins.catalogue import Plugins, UnknownPlugin

CONNECTOR_KINDS: Final = (PluginKind.SOURCE, PluginKind.SINK)
CONVERTERS: Final = {
    "key.converter": PluginKind.CONVERTER,
    "value.converter": PluginKind.CONVERTER,
    "header.converter": PluginKind.HEADER_CONVERTER,
}
REGISTRY_URL: Final = "schema.registry.url"
"""A setting of the worker, for converters that name no registry of their own."""
CONNECTOR_VERSION: Final = "connector.plugin.version"
OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")
CLIENT_SECRETS: Final = frozenset({
    "sasl.jaas.config", "sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.config", "sasl.password", "ssl.key.password", "ssl.key.pem", "ssl.keystore.key",
    "ssl.keystore.password", "ssl.truststore.password",
})  # fmt: skip
"""Settings of Kafka's clients, Java's and librdkafka's, that must not be told."""
DEFAULT_HEADER_CONVERTER: Final = "org.apache.kafka.connect.storage.SimpleHeaderConverter"


@dataclass(frozen=True, slots=True)
class Part:
    """The settings of one plugin within a configuration: all that begin with its prefix."""

    prefix: str
    keys: tuple[Key, ...]
    settings_type: type[Any] | None = None

    def own(self, config: Mapping[str, str]) -> dict[str, str]:
        """The part's settings under their own names."""
        return {name[len(self.prefix) :]: text for name, text in config.items() if name.startswith(self.prefix)}

    def full(self, key: Key) -> Key:
        return replace(key, name=self.prefix + key.name, title=key.title or key.name)


class Definition:
    """The parts of one configuration."""

    def __init__(
        self, plugins: Plugins, connector: Plugin, config: Mapping[str, str], defaults: Mapping[str, str]
    ) -> None:
        self.connector = connector
        registry = {f"{name}.{REGISTRY_URL}": defaults[REGISTRY_URL] for name in CONVERTERS if REGISTRY_URL in defaults}
        self.config = {**registry, **config}
        self._plugins = plugins
        self._defaults = defaults
        self.parts = tuple(self._parts())

    def all_keys(self) -> Iterator[Key]:
        """Every key under its full name. Of a family, those that the configuration names."""
        for part in self.parts:
            for key in map(part.full, part.keys):
                if not key.many:
                    yield key
                    continue
                family = key.name.removesuffix("*")
                for name in self.config:
                    if name.startswith(family) and not self._is_declared(name):
                        yield _member(key, name, part.prefix)

    def _is_declared(self, name: str) -> bool:
        return any(part.prefix + key.name == name for part in self.parts for key in part.keys)

    def problems(self, flawed: Container[str]) -> Iterator[tuple[str, str]]:
        """What is wrong in a part as a whole, by the full name of the setting. A part with a value that is wrong by itself is not asked:
        what it would say may follow from that."""
        for part in self.parts:
            if part.settings_type is None or any(part.prefix + key.name in flawed for key in part.keys):
                continue
            try:
                read(part.settings_type, part.own(self.config))
            except InvalidSettings as invalid:
                for problem in invalid.problems:
                    yield part.prefix + problem.name, problem.message

    def _parts(self) -> Iterator[Part]:
        yield Part("", tuple(map(self._defaulted, CONNECTOR_KEYS[self.connector.kind])))
        yield from self._named("transforms", "Transformation", PluginKind.TRANSFORMATION, _TRANSFORM_KEYS)
        yield from self._named("predicates", "Predicate", PluginKind.PREDICATE, ())
        yield _part("", self.connector)
        for prefix in OVERRIDES:
            yield Part(prefix, _CLIENT_KEYS)
        for name, kind in CONVERTERS.items():
            # Without a class of its own, the connector uses the worker's converter with the worker's settings for it.
            if self.config.get(name):
                yield from self._found(f"{name}.", self.config[name], kind)

    def _named(self, name: str, title: str, kind: PluginKind, further: tuple[Key, ...]) -> Iterator[Part]:
        for alias in aliases(self.config, name):
            prefix = f"{name}.{alias}."
            group = f"{name.capitalize()}: {alias}"
            about = (
                Key(name="type", kind=Kind.CLASS, default=None, doc=f"Class of the {title.lower()} {alias}.", required=True, importance=Importance.HIGH, group=group, order=0, width=Width.LONG, title=f"{title} type for {alias}"),
                Key(name="plugin.version", kind=Kind.STRING, default=self.version(f"{prefix}type"), doc=f"Version of the {title.lower()} {alias}.", importance=Importance.HIGH, group=group, order=1, width=Width.LONG, title=f"{title} version for {alias}"),
            )  # fmt: skip
            yield Part(prefix, about)
            found = [*self._found(prefix, self.config.get(f"{prefix}type", ""), kind), Part(prefix, further)]
            names = sorted(key.name for part in found for key in part.keys)
            for part in found:
                ordered = (replace(key, group=group, order=names.index(key.name) + len(about)) for key in part.keys)
                yield replace(part, keys=tuple(ordered))

    def _found(self, prefix: str, class_name: str, kind: PluginKind) -> Iterator[Part]:
        try:
            yield _part(prefix, self._plugins.find(class_name, (kind,)))
        except UnknownPlugin:
            # Its type is an error of its own; there is nothing more to say about it.
            return

    def _defaulted(self, key: Key) -> Key:
        if key.name in CONVERTERS:
            return replace(key, default=self._defaults.get(key.name))
        if key.name == CONNECTOR_VERSION:
            return replace(key, default=self.connector.version)
        if key.name.endswith(_VERSION):
            return replace(key, default=self.version(key.name.removesuffix(_VERSION)))
        return key

    def version(self, name: str) -> str | None:
        """The version of the plugin that a setting names; of each there is one."""
        kind = kind_of(name)
        class_name = self.config.get(name) or self._defaults.get(name, "")
        try:
            return None if kind is None else self._plugins.find(class_name, (kind,)).version
        except UnknownPlugin:
            return None

    def plugin_problem(self, name: str, class_name: str) -> str | None:
        """Why a setting that names a class names none."""
        kind = kind_of(name)
        if kind is None:
            return None
        try:
            self._plugins.find(class_name, (kind,))
        except UnknownPlugin as error:
            return (
                f"Invalid value {class_name} for configuration {name}: Class {class_name} could not be found: {error}"
            )
        return None

    def recommended(self, key: Key) -> list[str]:
        if key.name.endswith(_VERSION):
            return [] if key.default is None else [str(key.default)]
        kind = kind_of(key.name)
        return [] if kind is None else sorted({plugin.class_name for plugin in self._plugins if plugin.kind is kind})


_VERSION: Final = ".plugin.version"
_CLIENT_KEYS: Final = (
    Key(name="*", kind=Kind.STRING, default=None, doc="Setting of the connector's own Kafka client.", importance=Importance.LOW),
)  # fmt: skip
_TRANSFORM_KEYS: Final = (
    Key(name="predicate", kind=Kind.STRING, default=None, doc="The predicate that decides which records are transformed.", title="predicate"),
    Key(name="negate", kind=Kind.BOOLEAN, default=False, doc="Whether records are transformed for which the predicate does not hold.", title="negate"),
)  # fmt: skip


def aliases(config: Mapping[str, str], name: str) -> list[str]:
    """The names that a list such as `transforms` gives."""
    return [alias for part in config.get(name, "").split(",") if (alias := part.strip())]


def kind_of(name: str) -> PluginKind | None:
    """The kind of plugin that a setting names."""
    if name in CONVERTERS:
        return CONVERTERS[name]
    section, _, rest = name.partition(".")
    if rest.endswith(".type") and rest.count(".") == 1:
        return {"transforms": PluginKind.TRANSFORMATION, "predicates": PluginKind.PREDICATE}.get(section)
    return None


def _member(family: Key, name: str, prefix: str) -> Key:
    """The key of one setting of a family."""
    is_secret = family.secret or (prefix in OVERRIDES and name.removeprefix(prefix) in CLIENT_SECRETS)
    return replace(family, name=name, title=name, required=False, secret=is_secret)


def _part(prefix: str, plugin: Plugin) -> Part:
    return Part(prefix, tuple(keys_of(plugin.settings_type).values()), plugin.settings_type)


def parsed(key: Key, text: str | None) -> str | None:
    """The value that a key has, as text; SettingError when the text is none of its values."""
    if text is None:
        if key.required:
            raise SettingError(key.name, None, "it must be given")
        return key.format(key.default_value())
    return key.display(key.parse(text))
