"""The settings of everything that configurations may name, as Markdown, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import Key, keys_of
from connect.config.connector_keys import CONNECTOR_KEYS
from connect.plugins.catalogue import own_plugins

_INTRODUCTION: Final = """\
# What is built into Connect

This page is made from the declarations in the code: `python -m barnabas.reference`.

What a configuration may name, with all settings. How connectors are run and written: [connectors](../connectors.md)."""

_CHAPTERS: Final = (
    ("Sources", (PluginKind.SOURCE,)),
    ("Sinks", (PluginKind.SINK,)),
    ("Converters", (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)),
    ("Transforms", (PluginKind.TRANSFORMATION,)),
    ("Predicates", (PluginKind.PREDICATE,)),
)
_SIDES: Final = ("$Key", "$Value")
CODE: Final = "`"
"""Stands around what is written as it is."""


def page() -> str:
    """The whole page, in Markdown."""
    return "\n\n".join([_INTRODUCTION, *_blocks()]) + "\n"


def _blocks() -> Iterator[str]:
    for title, kinds in _CHAPTERS:
        yield f"## {title}"
        common = CONNECTOR_KEYS.get(kinds[0])
        if common is not None:
            yield "Every one of them has these settings:"
            yield _table(common)
        for plugin in _distinct(plugin for plugin in own_plugins() if plugin.kind in kinds):
            yield from _plugin_blocks(plugin)


def _distinct(plugins: Iterable[Plugin]) -> Iterator[Plugin]:
    """One for each class: a converter may serve headers, too, and a transform has one class for keys and one for values."""
    seen: set[str] = set()
    for plugin in plugins:
        name = _without_side(plugin.class_name)
        if name not in seen:
            seen.add(name)
            yield plugin


def _plugin_blocks(plugin: Plugin) -> Iterator[str]:
    yield f"### {_without_side(plugin.name)}"
    sides = f" and `{_SIDES[1]}`" if plugin.class_name.endswith(_SIDES[0]) else ""
    names = ", ".join(f"`{name}`" for name in (plugin.class_name, *plugin.aliases))
    yield f"{plugin.doc}\n\n{names}{sides}"
    keys = tuple(keys_of(plugin.settings_type).values())
    if keys:
        yield _table(keys)


def _without_side(name: str) -> str:
    for side in _SIDES:
        name = name.removesuffix(side)
    return name


def _table(keys: Iterable[Key]) -> str:
    rows = [f"| `{key.name}` | {_type(key)} | {_default(key)} | {_cell(key.meaning(CODE))} |" for key in keys]
    return "\n".join(["| setting | type | default | meaning |", "|---|---|---|---|", *rows])


def _type(key: Key) -> str:
    return f"{key.kind.value}, {key.unit}" if key.unit else key.kind.value


def _default(key: Key) -> str:
    if key.required:
        return "*required*"
    text = key.format(key.default_value())
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
