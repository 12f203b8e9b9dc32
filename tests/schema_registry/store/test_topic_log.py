"""The log: what is appended is read, lost answers leave no copies, and a deposed leader is shut out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from barnabas.wire.batch import Record as WireRecord
from barnabas.wire.batch import build_batch
from barnabas.wire.client import Client
from barnabas.wire.compression import Compression
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.produce import ProduceRequest
from schema_registry.store.failures import Fenced, OutOfRange, RecordsTooLarge
from schema_registry.store.fenced_producer import GRANT_MAX_S
from schema_registry.store.record import Record
from schema_registry.store.topic import TopicSettings
from schema_registry.store.topic_log import TopicLog
from tests.broker import BrokerProcess
from tests.schema_registry.faults import FaultyClient
from tests.schema_registry.store.scripted_log import HIGH_WATERMARK, scripted
from tests.waiting import wait_for_async

MESSAGE_MAX_BYTES = 1_048_588


@asynccontextmanager
async def opened(client: Client, topic: str, clock_s: Callable[[], float] = lambda: 0.0) -> AsyncIterator[TopicLog]:
    log = TopicLog(client, TopicSettings(topic, 1), f"{topic}-leader", clock_s=clock_s)
    await log.open()
    yield log
    await log.close()


async def contents(log: TopicLog) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(record.offset, record.key, record.value) for record in (await log.read(0, 100)).records]


def test_appended_records_are_read(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, opened(client, topic) as log:
            await log.take_over()
            assert await log.append([Record(b"a", b"1"), Record(b"b", None)]) == 0
            assert await log.append([Record(b"a", b"2")]) == 2
            assert await log.end_offset() == 3
            assert await contents(log) == [(0, b"a", b"1"), (1, b"b", None), (2, b"a", b"2")]
            page = await log.read(1, 100)
            assert ([record.offset for record in page.records], page.next_offset) == ([1, 2], 3)
            assert (await log.read(3, 1)).next_offset == 3
            with pytest.raises(OutOfRange):
                await log.read(4, 1)

    asyncio.run(scenario())


def test_a_batch_whose_answer_is_lost_is_written_once(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, opened(client, topic) as log:
            await log.take_over()
            client.answers_to_lose = 2
            assert await log.append([Record(b"a", b"1"), Record(b"b", b"2")]) == 0
            assert client.sent[ProduceRequest] == 3
            assert await log.append([Record(b"c", b"3")]) == 2
            assert [offset for offset, _, _ in await contents(log)] == [0, 1, 2]

    asyncio.run(scenario())


def test_a_deposed_leader_is_shut_out(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with (
            Client(kafka.address) as client,
            opened(client, topic) as zombie,
            opened(client, topic) as leader,
        ):
            await zombie.take_over()
            await zombie.append([Record(b"a", b"1")])
            await leader.take_over()
            await leader.append([Record(b"noop", None)])
            with pytest.raises(Fenced):
                await zombie.append([Record(b"a", b"2")])
            with pytest.raises(Fenced):
                await zombie.append([Record(b"a", b"3")])
            assert await leader.append([Record(b"b", b"1")]) == 2
            assert [key for _, key, _ in await contents(leader)] == [b"a", b"noop", b"b"]

    asyncio.run(scenario())


def test_a_batch_given_up_while_its_fate_is_unknown_is_not_taken_for_the_next(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, opened(client, topic) as log:
            await log.take_over()
            client.answers_to_lose = 1_000
            appending = asyncio.create_task(log.append([Record(b"a", b"1")]))
            await wait_for_async(client.has_produced, "the broker to take the batch")
            appending.cancel()
            await asyncio.gather(appending, return_exceptions=True)
            client.answers_to_lose = 0
            assert await log.append([Record(b"b", b"2")]) == 1
            assert await contents(log) == [(0, b"a", b"1"), (1, b"b", b"2")]

    asyncio.run(scenario())


def test_a_grant_is_renewed_before_brokers_forget_it(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        now_s = 0.0
        async with (
            Client(kafka.address) as client,
            opened(client, topic, lambda: now_s) as old,
            opened(client, topic) as new,
        ):
            await old.take_over()
            await old.append([Record(b"a", b"1")])
            now_s += GRANT_MAX_S
            assert await old.append([Record(b"a", b"2")]) == 1
            await new.take_over()
            now_s += GRANT_MAX_S
            # The new leader has written nothing yet, so that only the renewal can tell.
            with pytest.raises(Fenced):
                await old.append([Record(b"a", b"3")])

    asyncio.run(scenario())


def test_without_a_grant_nothing_is_written(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, opened(client, topic) as log:
            with pytest.raises(Fenced):
                await log.append([Record(b"a", b"1")])
            await log.take_over()
            log.give_up()
            with pytest.raises(Fenced):
                await log.append([Record(b"a", b"1")])
            assert await log.end_offset() == 0

    asyncio.run(scenario())


def test_records_that_are_too_large_are_refused_and_the_next_are_not(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, opened(client, topic) as log:
            await log.take_over()
            with pytest.raises(RecordsTooLarge):
                await log.append([Record(b"a", bytes(MESSAGE_MAX_BYTES))])
            assert await log.append([Record(b"a", b"1")]) == 0

    asyncio.run(scenario())


def test_a_log_that_cannot_be_reached_says_so() -> None:
    async def scenario() -> None:
        async with Client("127.0.0.1:1") as client:
            log = TopicLog(client, TopicSettings("t"), "t-leader")
            with pytest.raises(KafkaError, match="is the broker running"):
                await log.read(0, 1)

    asyncio.run(scenario())


def batch(offsets: list[int], last_offset: int, compression: int = 0) -> bytes:
    records = [WireRecord(offset, 1_000, b"k", b"v%d" % offset) for offset in offsets]
    return bytes(build_batch(records, base_offset=offsets[0], last_offset=last_offset, compression=compression))


def control(offset: int) -> bytes:
    marker = [WireRecord(offset, 1_000, b"\0\0\0\1", b"\0\0\0\0\0\0")]
    return bytes(build_batch(marker, control=True, transactional=True, producer_id=1, producer_epoch=0))


def damaged(offset: int) -> bytes:
    whole = bytearray(batch([offset], offset))
    whole[-4:] = b"\xff\xff\xff\xff"
    return bytes(whole)


@pytest.mark.parametrize(
    ("served", "offset", "found", "next_offset"),
    [
        (batch([3, 5, 9], 12), 3, [3, 5, 9], 13),
        (batch([3, 5, 9], 12), 6, [9], 13),
        (batch([0, 1], 1) + batch([7], 9), 4, [7], 10),
        (batch([0], 0) + control(1) + batch([2], 2), 0, [0, 2], 3),
        (batch([0], 0) + damaged(1) + batch([2], 2), 0, [0, 2], 3),
        (batch([0], 0) + batch([1], 1)[:-1], 0, [0], 1),
        (b"", 5, [], 5),
        *(((batch([0, 1, 2], 2, compression=codec)), 1, [1, 2], 3) for codec in Compression),
    ],
)
def test_pages_as_compaction_and_others_leave_them(
    served: bytes, offset: int, found: list[int], next_offset: int
) -> None:
    async def scenario() -> None:
        async with scripted(lambda _: served) as broker, Client(broker.address) as client:
            log = TopicLog(client, TopicSettings("t"), "t-leader")
            page = await log.read(offset, 1)
            await log.close()
        assert [(record.offset, record.value) for record in page.records] == [(o, b"v%d" % o) for o in found]
        assert (page.next_offset, page.high_watermark) == (next_offset, HIGH_WATERMARK)

    asyncio.run(scenario())


def test_a_leader_that_moved_is_looked_for_anew() -> None:
    def serve(times_asked_for_leader: int) -> bytes | ErrorCode:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if times_asked_for_leader == 1 else batch([0], 0)

    async def scenario() -> None:
        async with scripted(serve) as broker, Client(broker.address) as client:
            log = TopicLog(client, TopicSettings("t"), "t-leader")
            with pytest.raises(KafkaError, match="NOT_LEADER"):
                await log.read(0, 1)
            assert (await log.read(0, 1)).next_offset == 1
            assert len(broker.seen(MetadataRequest)) == 2
            await log.close()

    asyncio.run(scenario())
