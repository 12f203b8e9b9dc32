"""Where the offsets of sources are: in topics, or in the file of a standalone worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from barnabas.kernel.kafka_log.failures import StoreFailure
from barnabas.kernel.kafka_log.log import LogRecord
from barnabas.kernel.kafka_log.topic_log import LogClients, TopicLog
from connect.api.source import SourceOffset
from connect.storage.file_log import FileLog
from connect.tasks.source_offsets import offset_record, parse_offset

OFFSETS_TOPIC: Final = "offsets.storage.topic"

_logger = logging.getLogger(__name__)


class OffsetMap:
    """The offsets of each connector by the keys of their partitions."""

    def __init__(self) -> None:
        self._offsets: dict[str, dict[bytes, SourceOffset]] = {}

    def of(self, connector: str) -> Mapping[bytes, SourceOffset]:
        return self._offsets.get(connector, {})

    def apply(self, records: Sequence[LogRecord]) -> None:
        """Records that other programs may have put there are passed over."""
        for record in records:
            parsed = parse_offset(record.key, record.value)
            if parsed is None:
                continue
            connector, offset = parsed
            # Keys of others may have the same members in another order.
            key = offset_record(connector, offset).key
            entries = self._offsets.setdefault(connector, {})
            if offset.offset is None:
                entries.pop(key, None)
            else:
                entries[key] = offset


class OffsetStore(Protocol):
    async def close(self) -> None: ...

    async def read(self, connector: str, config: Mapping[str, str]) -> list[SourceOffset]:
        """Everything that is committed by now."""

    async def write(self, connector: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> None: ...

    def keep(self, connector: str, offsets: Sequence[SourceOffset]) -> None:
        """What a task has reached that does not write its offsets itself."""


class _OffsetsTopic:
    """One topic of offsets, replayed."""

    def __init__(self, topic: str, clients: LogClients) -> None:
        self.offsets = OffsetMap()
        self.log = TopicLog(topic, clients, self.offsets.apply)


class TopicOffsets:
    """The worker's topic, and those that connectors have for themselves; each is read when it is first asked for."""

    def __init__(self, topic: str, clients: LogClients, provide: Callable[[str], Awaitable[None]]) -> None:
        """`provide` creates a topic of offsets if there is none."""
        self._topic = topic
        self._clients = clients
        self._provide = provide
        self._open: dict[str, _OffsetsTopic] = {}
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        for each in self._open.values():
            await each.log.stop()

    async def read(self, connector: str, config: Mapping[str, str]) -> list[SourceOffset]:
        """What stands in a connector's own topic beats what stands in the worker's."""
        topics = await self._topics(config)
        await asyncio.gather(*(each.log.read_to_end() for each in topics))
        found: dict[bytes, SourceOffset] = {}
        for each in topics:
            found |= each.offsets.of(connector)
        return list(found.values())

    async def write(self, connector: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> None:
        """Set offsets everywhere, so that none that was forgotten shows through from the worker's topic."""
        for each in await self._topics(config):
            await each.log.append(_records(connector, offsets))

    def keep(self, connector: str, offsets: Sequence[SourceOffset]) -> None:
        raise AssertionError(f"a task of connector {connector} reports offsets, and should write them to the topic")

    async def _topics(self, config: Mapping[str, str]) -> list[_OffsetsTopic]:
        names = [self._topic, *filter(None, [config.get(OFFSETS_TOPIC)])]
        async with self._opening:
            for name in names:
                if name not in self._open:
                    await self._provide(name)
                    opened = _OffsetsTopic(name, self._clients)
                    try:
                        await opened.log.start()
                    except BaseException:
                        await opened.log.stop()
                        raise
                    self._open[name] = opened
        return [self._open[name] for name in names]


class FileOffsets:
    """All offsets of a standalone worker, which its tasks report."""

    def __init__(self, offsets: OffsetMap, log: FileLog) -> None:
        self._offsets = offsets
        self._log = log
        self._writes: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, path: Path) -> FileOffsets:
        """StoreFailure when the file cannot be read."""
        offsets = OffsetMap()
        return cls(offsets, await FileLog.open(path, offsets.apply))

    async def close(self) -> None:
        await asyncio.gather(*self._writes)
        await self._log.close()

    async def read(self, connector: str, config: Mapping[str, str]) -> list[SourceOffset]:
        return list(self._offsets.of(connector).values())

    async def write(self, connector: str, config: Mapping[str, str], offsets: Sequence[SourceOffset]) -> None:
        await self._log.append(_records(connector, offsets))

    def keep(self, connector: str, offsets: Sequence[SourceOffset]) -> None:
        write = asyncio.create_task(self._keep(connector, offsets))
        self._writes.add(write)
        write.add_done_callback(self._writes.discard)

    async def _keep(self, connector: str, offsets: Sequence[SourceOffset]) -> None:
        try:
            await self._log.append(_records(connector, offsets))
        except StoreFailure as failure:
            _logger.error("offsets of connector %s are not kept: %s", connector, failure)


def _records(connector: str, offsets: Iterable[SourceOffset]) -> list[LogRecord]:
    return [LogRecord(*offset_record(connector, each)) for each in offsets]
