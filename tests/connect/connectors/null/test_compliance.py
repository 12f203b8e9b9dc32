"""The sink that keeps nothing passes what all sinks must."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from connect.compliance.sink import SinkCompliance
from connect.connectors.null.plugins import PLUGINS


class TestNullSink(SinkCompliance):
    (plugin,) = PLUGINS
    keeps_records = False

    def arrange(self, folder: Path) -> Mapping[str, str]:
        return {}
