"""What the catalogue of plugins knows about each: its names, its kind, and what makes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import Any


class PluginKind(Enum):
    """The words of REST."""

    SOURCE = "source"
    SINK = "sink"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"


@dataclass(frozen=True)
class Plugin:
    """A class that configurations name. `class_name` is the name that REST tells: that of the Java class it stands in for, if there is
    one, so that existing configurations and tools find it. `name` is the short one.

    `settings` and `maker` are things, or texts such as `module:Name`: what is named so is loaded when it is needed, since a worker knows
    all plugins and uses few.
    """

    kind: PluginKind
    name: str
    class_name: str
    settings: type[Any] | str
    maker: Any
    version: str | None = None
    aliases: tuple[str, ...] = ()
    doc: str = ""

    @cached_property
    def settings_type(self) -> type[Any]:
        """The dataclass of the plugin's settings."""
        found: type[Any] = _loaded(self.settings)
        return found

    @cached_property
    def made_by(self) -> Any:
        """What is called with the typed settings."""
        return _loaded(self.maker)


def _loaded(at: Any) -> Any:
    if not isinstance(at, str):
        return at
    module, _, name = at.partition(":")
    return getattr(import_module(module), name)
