"""Connectors that behave as badly as connectors can; a worker loads them from this file."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import setting
from connect.api.source import Batch, Idle, Offsets, Shard, Source

FOR_EVER_S = 1_000_000


@dataclass(frozen=True, slots=True)
class BadSettings:
    how: str = setting("how", "What it does.")


class BadSource(Source[BadSettings]):
    settings_type = BadSettings

    def shards(self) -> Sequence[Shard]:
        if self.settings.how == "hangs-at-once":
            time.sleep(FOR_EVER_S)
        return [{}]

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        yield Idle(0)
        match self.settings.how:
            case "hangs":
                time.sleep(FOR_EVER_S)
            case "loops":
                while True:
                    pass
            case "crashes":
                ctypes.string_at(0)
            case "exits":
                os._exit(7)


BAD = Plugin(PluginKind.SOURCE, "bad", "tests.BadConnector", BadSettings, BadSource)
