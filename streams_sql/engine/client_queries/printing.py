"""PRINT: the records of a topic as lines, whatever their format may be."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.engine.client_queries.topic_tail import Start, TopicTail
from streams_sql.engine.failures import Stopping, TooManyPushQueries
from streams_sql.evaluation.time_texts import timestamp_text
from streams_sql.formats.guess import UNRECOGNISED, FormatGuess
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.statements import Print
from streams_sql.problem import SqlProblem

NO_FORMAT: Final = (
    " does not match any supported format. It may be a STRING with encoding other than UTF8, or some other format."
)


class PrintQueries:
    """At most `prints_max` at once: each has a thread and a consumer, for as long as its client likes."""

    def __init__(
        self, admin: Admin, consumer: Mapping[str, Any], registry: RegistryAccess | None, prints_max: int
    ) -> None:
        self._admin = admin
        self._consumer = consumer
        self._registry = registry
        self._prints_max = prints_max
        self._open: set[TailLines] = set()

    async def stop(self) -> None:
        """End what clients still read, with the reason."""
        await asyncio.gather(*(lines.stop() for lines in tuple(self._open)))

    async def start(self, statement: Print) -> PrintLines:
        """The lines, from now on or from the beginning. SqlProblem, TooManyPushQueries, Unavailable, StoreFailure."""
        if len(self._open) >= self._prints_max:
            raise TooManyPushQueries(
                f"{self._prints_max} clients let topics be printed already, and ksql.max.push.queries allows no more: end one of them."
            )
        if await self._admin.layout(statement.topic) is None:
            hint = (
                nearest_hint(statement.topic, await self._admin.topics()) or " SHOW TOPICS lists those that there are."
            )
            raise SqlProblem(
                f"Could not find topic '{statement.topic}', or the KSQL user does not have permissions.{hint}"
            )
        lines = _Lines(self._registry, statement.interval or 1)
        tail = TopicTail(statement.topic, self._consumer, Start(statement.from_beginning), lines.of)
        await tail.open()
        found = TailLines(tail, statement.limit, self._open.discard)
        self._open.add(found)
        return found


class PrintLines(ABC):
    """Lines as they come. Who has read enough closes them, whether they were read or not."""

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[str]: ...

    @abstractmethod
    async def close(self) -> None: ...


class TailLines(PrintLines):
    """At most so many records of a topic, and lines about their formats."""

    def __init__(self, tail: TopicTail[_Page], limit: int | None, on_close: Callable[[TailLines], None]) -> None:
        self._tail = tail
        self._left = limit
        self._on_close = on_close
        self._is_stopped = False

    async def __aiter__(self) -> AsyncIterator[str]:
        if self._left == 0:
            return
        async for printed in self._tail:
            for line in (*printed.formats, *printed.records[: self._left]):
                yield line
            if self._left is not None:
                self._left -= len(printed.records)
                if self._left <= 0:
                    return
        if self._is_stopped:
            raise Stopping

    async def stop(self) -> None:
        """Before they have come to their end."""
        self._is_stopped = True
        await self.close()

    async def close(self) -> None:
        self._on_close(self)
        await self._tail.close()


class _Page(NamedTuple):
    """Lines about some records: their formats where these have changed, then a line for each."""

    formats: list[str]
    records: list[str]


class _Lines:
    """Made once for a topic, used by one thread. Of each `interval` records one is printed."""

    def __init__(self, registry: RegistryAccess | None, interval: int) -> None:
        self._keys = FormatGuess(registry, is_key=True)
        self._values = FormatGuess(registry, is_key=False)
        self._interval = interval
        self._seen = 0
        self._shown: dict[str, list[str]] = {}

    def of(self, messages: Sequence[Message]) -> _Page | None:
        chosen = [message for place, message in enumerate(messages, self._seen) if place % self._interval == 0]
        self._seen += len(messages)
        if not chosen:
            return None
        keys = self._keys.texts([_raw(message.key()) for message in chosen])
        values = self._values.texts([_raw(message.value()) for message in chosen])
        records = [
            f"rowtime: {_time_text(message)}, key: {key}, value: {value}, partition: {message.partition()}"
            for message, key, value in zip(chosen, keys, values, strict=True)
        ]
        return _Page(
            [*self._formats("Key format: ", self._keys), *self._formats("Value format: ", self._values)], records
        )

    def _formats(self, title: str, guess: FormatGuess) -> list[str]:
        """Printed at the beginning, and when they change."""
        names = guess.names
        if names == self._shown.get(title):
            return []
        self._shown[title] = names
        return [title + (NO_FORMAT if names == [UNRECOGNISED] else " or ".join(names))]


def _time_text(message: Message) -> str:
    kind, timestamp_ms = message.timestamp()
    if kind == TIMESTAMP_NOT_AVAILABLE:
        return "N/A"
    return f"{timestamp_text(timestamp_ms).replace('-', '/').replace('T', ' ')} Z"


def _raw(part: str | bytes | None) -> bytes | None:
    return part.encode() if isinstance(part, str) else part
