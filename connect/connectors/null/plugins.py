"""A sink that keeps nothing: what is left is the cost of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from connect.api.plugin import Plugin, PluginKind
from connect.api.record import Record
from connect.api.sink import Sink
from connect.version import VERSION


@dataclass(frozen=True, slots=True)
class NullSinkSettings:
    """It has none of its own."""


class NullSink(Sink[NullSinkSettings]):
    """Takes every record and keeps none."""

    settings_type = NullSinkSettings

    def write(self, records: Sequence[Record]) -> None:
        return


PLUGINS: Final = (
    Plugin(
        PluginKind.SINK,
        "null-sink",
        "org.apache.kafka.connect.tools.MockSinkConnector",
        NullSinkSettings,
        NullSink,
        VERSION,
        doc="Takes every record and keeps none.",
    ),
)
