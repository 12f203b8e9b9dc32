"""Plugins that are declared in a line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.connect import (
    Batch,
    DataError,
    Idle,
    Offsets,
    Record,
    RejectedRecord,
    Shard,
    Sink,
    Source,
    setting,
    sink,
    source,
)
from connect.api.plugin import PluginKind
from connect.api.settings import read

if TYPE_CHECKING:
    from collections.abc import Iterator as OnlyForTypes


@dataclass(frozen=True, kw_only=True)
class Settings:
    topic: str = setting("topic", "Where to.")


@source("counter", aliases=("org.example.CounterConnector",), version="1.2")
def count(settings: Settings, offsets: Offsets) -> OnlyForTypes[Batch | Idle]:
    """Counts.

    For ever.
    """
    yield Batch([Record(settings.topic, 1)])


@source("ticker")
class Ticker(Source[Settings]):
    """Ticks."""

    settings_type = Settings

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        yield Idle(1)


@sink("collector")
def collect(settings: Settings, records: Sequence[Record]) -> list[RejectedRecord]:
    return [
        RejectedRecord(place, DataError(settings.topic)) for place, record in enumerate(records) if not record.value
    ]


@sink("awaited")
async def await_all(settings: Settings, records: Sequence[Record]) -> None:
    await asyncio.sleep(0)


@sink("holder")
class Holder(Sink[Settings]):
    settings_type = Settings

    def write(self, records: Sequence[Record]) -> None:
        return


@pytest.mark.parametrize(
    ("plugin", "kind", "name", "declared", "doc"),
    [
        (count, PluginKind.SOURCE, "counter", "count", "Counts.\n\nFor ever."),
        (Ticker, PluginKind.SOURCE, "ticker", "Ticker", "Ticks."),
        (collect, PluginKind.SINK, "collector", "collect", ""),
        (await_all, PluginKind.SINK, "awaited", "await_all", ""),
        (Holder, PluginKind.SINK, "holder", "Holder", ""),
    ],
)
def test_a_plugin_follows_from_what_is_decorated(
    plugin: Any, kind: PluginKind, name: str, declared: str, doc: str
) -> None:
    assert (plugin.kind, plugin.name, plugin.doc, plugin.settings_type) == (kind, name, doc, Settings)
    assert plugin.class_name == f"{__name__}.{declared}"


def test_a_function_reads_with_its_settings() -> None:
    made = count.made_by(read(count.settings_type, {"topic": "t"}))
    assert (list(made.shards()), made.is_exactly_once, made.rescan_s) == ([{}], True, None)
    assert [batch.records for batch in made.read([{}], Offsets())] == [[Record("t", 1)]]
    assert (count.aliases, count.version) == (("org.example.CounterConnector",), "1.2")


def test_a_function_writes_with_its_settings() -> None:
    made = collect.made_by(Settings(topic="t"))
    ((place, error),) = made.write([Record("t", 1), Record("t", None)])
    assert (place, str(error)) == (1, "t")
    made.flush()
    made.stop()


def test_what_cannot_be_declared_is_named() -> None:
    def bare(settings, records):  # type: ignore[no-untyped-def]  # that is the mistake
        return None

    def second(settings, records: Sequence[Record]) -> None:  # type: ignore[no-untyped-def]
        return None

    def unknown(settings: Nowhere, records: Sequence[Record]) -> None:  # type: ignore[name-defined]  # noqa: F821
        return None

    def plain(settings: dict[str, str], records: Sequence[Record]) -> None:
        return None

    class Unsaid(Sink[Settings]):
        def write(self, records: Sequence[Record]) -> None:
            return

    for wrong, said in (
        (bare, "bare: annotate the first parameter"),
        (second, "second: annotate the first parameter"),
        (unknown, "the type of its settings cannot be found: name 'Nowhere' is not defined"),
        (plain, "its settings must be a dataclass, not"),
        (Unsaid, "its settings must be a dataclass, not None"),
    ):
        with pytest.raises(TypeError, match=said):
            sink("wrong")(wrong)
