"""Declaring a connector in a line: a class, or just the function that reads or writes."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any

from connect.api.plugin import Plugin, PluginKind
from connect.api.record import Record
from connect.api.sink import RejectedRecord, Sink
from connect.api.source import Batch, Idle, Offsets, Shard, Source

ReadFunction = Callable[[Any, Offsets], Iterator[Batch | Idle] | AsyncIterator[Batch | Idle]]
WriteFunction = Callable[
    [Any, Sequence[Record]], "Sequence[RejectedRecord] | Awaitable[Sequence[RejectedRecord] | None] | None"
]


def source(
    name: str, *, aliases: tuple[str, ...] = (), version: str | None = None
) -> Callable[[type[Source[Any]] | ReadFunction], Plugin]:
    """Make a plugin of a subclass of `Source`, or of a generator function of its settings and the offsets."""

    def declare(declared: type[Source[Any]] | ReadFunction) -> Plugin:
        kind = declared if isinstance(declared, type) else _source_class(declared)
        return _plugin(PluginKind.SOURCE, name, declared, kind, version, aliases)

    return declare


def sink(
    name: str, *, aliases: tuple[str, ...] = (), version: str | None = None
) -> Callable[[type[Sink[Any]] | WriteFunction], Plugin]:
    """Make a plugin of a subclass of `Sink`, or of a function of its settings and a batch of records."""

    def declare(declared: type[Sink[Any]] | WriteFunction) -> Plugin:
        kind = declared if isinstance(declared, type) else _sink_class(declared)
        return _plugin(PluginKind.SINK, name, declared, kind, version, aliases)

    return declare


def _plugin(
    kind: PluginKind, name: str, declared: Any, made_by: Any, version: str | None, aliases: tuple[str, ...]
) -> Plugin:
    settings_type = getattr(made_by, "settings_type", None)
    if not (isinstance(settings_type, type) and is_dataclass(settings_type)):
        raise TypeError(f"{declared.__qualname__}: its settings must be a dataclass, not {settings_type!r}")
    class_name = f"{declared.__module__}.{declared.__qualname__}"
    doc = inspect.cleandoc(declared.__doc__ or "")
    return Plugin(kind, name, class_name, settings_type, made_by, version, aliases, doc)


def _source_class(function: ReadFunction) -> type[Source[Any]]:
    class FunctionSource(Source[Any]):
        settings_type = _settings_type(function)

        def read(
            self, shards: Sequence[Shard], offsets: Offsets
        ) -> Iterator[Batch | Idle] | AsyncIterator[Batch | Idle]:
            return function(self.settings, offsets)

    return FunctionSource


def _sink_class(function: WriteFunction) -> type[Sink[Any]]:
    class FunctionSink(Sink[Any]):
        settings_type = _settings_type(function)

        def write(
            self, records: Sequence[Record]
        ) -> Sequence[RejectedRecord] | Awaitable[Sequence[RejectedRecord] | None] | None:
            return function(self.settings, records)

    return FunctionSink


def _settings_type(function: Callable[..., Any]) -> type[Any]:
    """The type of the first parameter. Its annotation alone is looked up: others may name what is imported for types only."""
    first = next(iter(inspect.signature(function).parameters), "")
    annotated = SimpleNamespace(__annotations__={"settings": function.__annotations__.get(first)})
    try:
        found: type[Any] = typing.get_type_hints(annotated, vars(sys.modules[function.__module__]))["settings"]
    except NameError as error:
        raise TypeError(f"{function.__qualname__}: the type of its settings cannot be found: {error}") from None
    if found is type(None):
        raise TypeError(f"{function.__qualname__}: annotate the first parameter with the dataclass of its settings")
    return found
