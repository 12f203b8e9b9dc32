"""The reader finds its place again in a log that is not what it was."""

import asyncio

import pytest

from barnabas.wire.batch import Record as WireRecord
from barnabas.wire.batch import build_batch
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode
from schema_registry.store.reader import Reader
from schema_registry.store.topic import TopicSettings
from schema_registry.store.topic_log import TopicLog
from tests.schema_registry.eventually import eventually
from tests.schema_registry.store.scripted_log import scripted


@pytest.mark.parametrize(
    ("position", "start", "restarts"),
    [
        (3, 5, 0),  # the log was cut at its start, as by DeleteRecords
        (9, 5, 1),  # the log lost its end, as after an unclean election
    ],
)
def test_a_log_without_the_readers_offset(position: int, start: int, restarts: int) -> None:
    served: list[int] = []
    taken: list[int] = []
    began: list[None] = []

    def serve(_: int) -> bytes | ErrorCode:
        served.append(len(served))
        if len(served) == 1:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        return bytes(build_batch([WireRecord(start, 0, b"k", b"v")])) if len(served) == 2 else b""

    async def scenario() -> None:
        async with scripted(serve, start=start, end=start + 1) as broker, Client(broker.address) as client:
            log = TopicLog(client, TopicSettings("t"), "t-leader")
            reader = Reader(log, lambda record: taken.append(record.offset), lambda: began.append(None))
            reader.position = position
            reader.start()
            await eventually(lambda: bool(taken), "the reader to find its place")
            await reader.wait_for(start)
            await reader.stop()
            await log.close()
        assert (taken, len(began), reader.position) == ([start], restarts, start + 1)

    asyncio.run(scenario())
