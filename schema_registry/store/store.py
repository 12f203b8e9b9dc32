"""The registry's memory: every change goes through the topic, and comes back from it in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.wire.batch import Record as StoredRecord
from barnabas.wire.errors import KafkaError
from barnabas.wire.recovery import Recovery
from barnabas.wire.wire_error import WireError
from schema_registry.store.coalesced import Coalesced
from schema_registry.store.failures import StoreTimeout
from schema_registry.store.keys import Broken, Key, NoopKey, Unknown, parse_key
from schema_registry.store.reader import Reader
from schema_registry.store.record import Record
from schema_registry.store.spellings import Spellings
from schema_registry.store.topic_log import TopicLog
from schema_registry.store.values import Value, parse_value
from schema_registry.store.writer import NO_OFFSET, Writer

DEFAULT_TIMEOUT_MS: Final = 5_000
DEFAULT_INIT_TIMEOUT_MS: Final = 60_000

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Applied:
    """One record of the topic, understood. No value: the key is deleted."""

    offset: int
    timestamp_ms: int
    key: Key
    value: Value | None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the registry still hears the topic: records that it has not read yet, and what is wrong, if anything."""

    reading: bool
    lag: int
    skipped_records: int
    error: str | None


class Store:
    """Applies the topic's records as they come, and writes new ones while this instance leads.

    `apply` is called once for each record, in order, on the event loop. `start_again` is called before the whole log is read
    a second time, after the topic lost records that were applied already. `on_fenced` is called when another instance has
    taken the lead.
    """

    def __init__(
        self,
        log: TopicLog,
        apply: Callable[[Applied], None],
        *,
        start_again: Callable[[], None],
        on_fenced: Callable[[], None],
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        init_timeout_ms: int = DEFAULT_INIT_TIMEOUT_MS,
    ) -> None:
        self._log = log
        self._apply = apply
        self._start_again = start_again
        self._timeout_ms = timeout_ms
        self._init_timeout_ms = init_timeout_ms
        self._reader = Reader(log, self._take, self._forget)
        self._writer = Writer(log, on_fenced)
        self._spellings = Spellings()
        self._asking = Recovery("asking for the end of the schema topic", _logger)
        self._end_offset = Coalesced(self._ask_end_offset)
        self._skipped = 0

    @property
    def position(self) -> int:
        """Every record before this offset has been applied."""
        return self._reader.position

    @property
    def health(self) -> Health:
        error = self._reader.error or self._log.writing_error
        if error is None and self._writer.in_doubt:
            error = f"the schema topic has not answered a write within {self._timeout_ms} ms"
        return Health(self._reader.is_alive, self._reader.lag, self._skipped, error)

    async def start(self) -> None:
        """Make or check the topic and apply all that it holds; TopicUnfit when it cannot hold schemas."""
        recovery = Recovery("opening the schema topic", _logger)
        try:
            async with asyncio.timeout(self._init_timeout_ms / 1000):
                while not await self._opened(recovery):
                    pass
                self._reader.start()
                await self._reader.wait_for(await self._end_offset() - 1)
        except TimeoutError:
            reason = recovery.error or self._reader.error or f"{self._reader.lag} records are left"
            raise StoreTimeout(
                f"the schema topic was not read within {self._init_timeout_ms} ms ({reason}); "
                "is kafkastore.bootstrap.servers right, and kafkastore.init.timeout.ms long enough?"
            ) from None

    async def stop(self) -> None:
        await self._writer.stop()
        await self._reader.stop()
        await self._end_offset.close()
        await self._log.close()

    async def lead(self) -> None:
        """Become the only writer, and apply all that was written before."""
        await self.resign()
        await self._log.take_over()
        offset = await self._log.append([Record(NoopKey().encode(), None)])
        await self._reader.wait_for(offset)
        self._writer.start()

    async def resign(self) -> None:
        """Write no more until the next `lead`."""
        self._log.give_up()
        await self._writer.stop()

    async def write(self, records: Sequence[Record]) -> list[int]:
        """Write records together or not at all; returns their offsets once they have been applied here."""
        if not records:
            return []
        unified = self._spellings.unify(records)
        write = self._writer.submit(unified)
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                offsets = await write
                await self._reader.wait_for(offsets[-1])
        except TimeoutError:
            raise StoreTimeout(self._unseen("the write", self._timeout_ms)) from None
        finally:
            self._writer.leave(write)
        return offsets[-len(records) :]

    async def settle(self) -> None:
        """Return when it is known what became of every write that somebody stopped waiting for, and applied here.

        Whoever decided about a new write before could contradict one that is still to come. The longer the topic has not
        answered, the less it is waited for, so that writes in a row do not add up their waiting.
        """
        patience_ms = 2 * self._timeout_ms
        try:
            async with asyncio.timeout_at(self._writer.sent_s + patience_ms / 1000):
                await self._writer.settled()
                await self._reader.wait_for(self._writer.left_offset)
        except TimeoutError:
            raise StoreTimeout(self._unseen("an earlier write", patience_ms)) from None

    async def catch_up(self) -> None:
        """Apply everything that was in the topic when this was called."""
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                await self._reader.wait_for(await self._end_offset() - 1)
        except TimeoutError:
            raise StoreTimeout(f"the end of the schema topic was not reached within {self._timeout_ms} ms") from None

    async def wait_for(self, offset: int) -> None:
        """Return when the record at `offset` has been applied."""
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                await self._reader.wait_for(offset)
        except TimeoutError:
            raise StoreTimeout(f"offset {offset} was not read within {self._timeout_ms} ms") from None

    def _unseen(self, what: str, waited_ms: int) -> str:
        reason = self._log.writing_error or self._reader.error
        return f"{what} was not seen in the schema topic within {waited_ms} ms" + (f": {reason}" if reason else "")

    async def _opened(self, recovery: Recovery) -> bool:
        try:
            await self._log.open()
        except (KafkaError, WireError) as error:
            await recovery.after(error)
            return False
        return True

    async def _ask_end_offset(self) -> int:
        while True:
            try:
                end = await self._log.end_offset()
            except (KafkaError, WireError) as error:
                await self._asking.after(error)
            else:
                self._asking.succeeded()
                return end

    def _take(self, record: StoredRecord) -> None:
        """Apply a record. Whatever is wrong with one must not keep the registry from those behind it."""
        try:
            self._apply_understood(record)
        except Exception:
            _logger.exception("the record at offset %d could not be applied: %r", record.offset, record.key)
            self._skipped += 1

    def _apply_understood(self, record: StoredRecord) -> None:
        """What cannot be understood stays in the topic and is passed over."""
        key = parse_key(record.key)
        if isinstance(key, (Broken, Unknown)):
            self._skip(record, key)
            return
        value = parse_value(key, record.value)
        self._spellings.note(key.encode(), record.key or b"", alive=value is not None)
        if isinstance(value, Broken):
            self._skip(record, value)
        elif not isinstance(key, NoopKey):
            self._apply(Applied(record.offset, record.timestamp, key, value))

    def _skip(self, record: StoredRecord, what: Broken | Unknown) -> None:
        reason = what.reason if isinstance(what, Broken) else f"its key is of the unknown type {what.keytype!r}"
        _logger.warning("the record at offset %d is passed over: %s", record.offset, reason)
        self._skipped += 1

    def _forget(self) -> None:
        self._spellings.clear()
        self._writer.left_offset = NO_OFFSET
        self._start_again()
