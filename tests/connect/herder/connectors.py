"""Small connectors that a worker loads from this file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from connect.api.plugin import Plugin, PluginKind
from connect.api.settings import setting
from connect.api.source import Batch, Idle, Offsets, Shard, Source, SourceOffset
from connect.errors import InvalidOffsets

IDLE_S = 0.05


@dataclass(frozen=True, slots=True)
class DiarySettings:
    diary: str = setting("diary", "A file to which each task adds its process and its shards when it starts.")
    broken: str = setting("broken", "As long as this file exists, tasks fail.", "")
    parts: str = setting("parts", "A file with as many lines as there are shards.", "")
    password: str = setting("password", "A secret.", "", secret=True)


class Diary(Source[DiarySettings]):
    """Reads nothing, and leaves a trace of each start."""

    settings_type = DiarySettings

    def shards(self) -> Sequence[Shard]:
        parts = self.settings.parts
        return [{"part": line} for line in Path(parts).read_text().split()] if parts else [{}]

    @property
    def rescan_s(self) -> float | None:
        return IDLE_S

    def read(self, shards: Sequence[Shard], offsets: Offsets) -> Iterator[Batch | Idle]:
        if self.settings.broken and Path(self.settings.broken).exists():
            raise RuntimeError("the flag is up")
        with Path(self.settings.diary).open("a") as diary:
            diary.write(f"{os.getpid()} {','.join(shard.get('part', '') for shard in shards)}\n")
        while True:
            yield Idle(IDLE_S)

    def check_offsets(self, offsets: Sequence[SourceOffset]) -> None:
        for each in offsets:
            if each.offset is not None and "page" not in each.offset:
                raise InvalidOffsets(f"a page is missing in {each.offset}")


DIARY = Plugin(PluginKind.SOURCE, "diary", "tests.DiaryConnector", DiarySettings, Diary)
