"""The store: writes come back applied, in order, once; readers survive whatever the topic and the broker do."""

import asyncio

import pytest

from barnabas.wire.client import Client
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.list_offsets import ListOffsetsRequest
from barnabas.wire.messages.produce import ProduceRequest
from schema_registry.store.failures import Fenced, RecordsTooLarge, StoreTimeout
from schema_registry.store.keys import SchemaKey
from schema_registry.store.record import Record
from schema_registry.store.store import Store
from schema_registry.store.topic import TopicSettings, provide
from schema_registry.store.topic_log import TopicLog
from schema_registry.store.writer import GROUP_MAX_BYTES
from tests.broker import BrokerProcess
from tests.conftest import StartBroker
from tests.schema_registry.eventually import eventually
from tests.schema_registry.faults import FaultyClient
from tests.schema_registry.store.instance import Instance, registration, started
from tests.waiting import wait_for_async

MANY = 500
MESSAGE_MAX_BYTES = 1_048_588


async def append(client: Client, topic: str, records: list[Record]) -> None:
    """Puts records into the topic behind the store's back."""
    log = TopicLog(client, TopicSettings(topic, 1), f"{topic}-stranger")
    await log.open()
    await log.take_over()
    await log.append(records)
    await log.close()


def test_a_write_returns_when_it_is_applied_here_and_others_follow(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with (
            Client(kafka.address) as client,
            started(client, topic) as leader,
            started(client, topic, leads=False) as follower,
        ):
            offsets = await leader.store.write([registration("a"), registration("b")])
            assert offsets == [1, 2]  # offset 0 is the leader's first record
            assert leader.offsets == [1, 2]
            assert leader.store.position == 3
            await follower.store.wait_for(2)
            assert follower.memory == leader.memory
            await leader.store.write([Record(SchemaKey("a", 1).encode(), None)])
            await follower.store.catch_up()
            assert follower.memory[SchemaKey("a", 1)] is None
            assert await leader.store.write([]) == []

    asyncio.run(scenario())


def test_writes_that_come_together_share_batches(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, started(client, topic) as instance:
            before = client.sent[ProduceRequest]
            writes = [instance.store.write([registration(f"s{i}"), registration(f"t{i}")]) for i in range(MANY)]
            offsets = await asyncio.gather(*writes)
            assert offsets == [[1 + 2 * i, 2 + 2 * i] for i in range(MANY)]
            assert len(instance.memory) == 2 * MANY
            assert client.sent[ProduceRequest] - before <= 3

    asyncio.run(scenario())


def test_who_catches_up_together_asks_once(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, started(client, topic, leads=False) as instance:
            before = client.sent[ListOffsetsRequest]
            await append(client, topic, [registration("a")])
            await asyncio.gather(*(instance.store.catch_up() for _ in range(MANY)))
            assert instance.offsets == [0]
            assert client.sent[ListOffsetsRequest] - before == 1

    asyncio.run(scenario())


def test_connections_lost_in_the_middle_of_many_writes(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, started(client, topic) as instance:
            for _ in range(3):
                client.answers_to_lose = 1
                await asyncio.gather(*(instance.store.write([registration(f"s{i}")]) for i in range(20)))
            await instance.store.catch_up()
            assert instance.offsets == list(range(1, 61))

    asyncio.run(scenario())


def test_a_large_write_fails_alone(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, started(client, topic) as instance:
            large = Record(b"large", bytes(MESSAGE_MAX_BYTES))
            half = Record(SchemaKey("half", 1).encode(), bytes(GROUP_MAX_BYTES - 100))
            writes = [[registration("a")], [large], [half], [half], [registration("b")]]
            found = await asyncio.gather(*map(instance.store.write, writes), return_exceptions=True)
            assert isinstance(found[1], RecordsTooLarge)
            assert [found[i] for i in (0, 2, 3, 4)] == [[1], [2], [3], [4]]

    asyncio.run(scenario())


def test_broken_records_and_failing_ones_are_passed_over(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            key = registration("a").key
            strange = [
                Record(b"{", b"{}"),
                Record(b'{"keytype":"HOLOGRAM","magic":0}', b"{}"),
                Record(key, b"\xff"),
                Record(key, b"[" * 10_000),
                registration("refused"),
                registration("a"),
            ]
            await append(client, topic, strange)
            instance = Instance(client, topic)
            instance.refuse = SchemaKey("refused", 1)
            await instance.store.start()
            assert instance.offsets == [5]
            assert instance.store.health.skipped_records == 5
            await instance.store.lead()
            assert await instance.store.write([registration("b")]) == [7]
            await instance.store.stop()

    asyncio.run(scenario())


def test_other_spellings_of_a_key_go_when_it_is_written(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            value = registration("a").value
            karapace = b'{"subject":"a","version":1,"magic":1,"keytype":"SCHEMA"}'
            older = b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":0}'
            await append(client, topic, [Record(karapace, value), Record(older, value), registration("a")])
            async with started(client, topic) as instance:
                deletion = [Record(SchemaKey("a", 1).encode(), None)]
                assert await instance.store.write(deletion) == [6]
                assert await instance.store.write(deletion) == [7]
                page = await instance.log.read(4, 100)
                assert [(record.key, record.value) for record in page.records] == [
                    (older, None),
                    (karapace, None),
                    (deletion[0].key, None),
                    (deletion[0].key, None),
                ]

    asyncio.run(scenario())


def test_a_deposed_leader_is_told_and_its_waiting_writes_fail(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with (
            Client(kafka.address) as client,
            started(client, topic) as old,
            started(client, topic) as new,
        ):
            writes = [old.store.write([registration(f"s{i}")]) for i in range(3)]
            found = await asyncio.gather(*writes, return_exceptions=True)
            assert [type(failure) for failure in found] == [Fenced] * 3
            await old.fenced.wait()
            with pytest.raises(Fenced):
                await old.store.write([registration("a")])
            assert await new.store.write([registration("a")]) == [2]
            await old.store.catch_up()
            assert old.memory == new.memory
            await old.store.lead()
            assert await old.store.write([registration("b")]) == [4]

    asyncio.run(scenario())


def test_what_became_of_a_late_write_is_waited_for(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, started(client, topic, timeout_ms=100) as instance:
            store = instance.store
            await store.settle()
            await client.cut_off()
            with pytest.raises(StoreTimeout):
                await store.write([registration("late")])
            assert store.health.error is not None
            with pytest.raises(StoreTimeout, match="an earlier write"):
                await store.settle()
            client.mend()

            async def is_settled() -> bool:
                try:
                    await store.settle()
                except StoreTimeout:
                    return False
                return True

            await wait_for_async(is_settled, "the late write to arrive")
            assert list(instance.memory) == [SchemaKey("late", 1)]

    asyncio.run(scenario())


def test_who_resigned_is_well_although_its_last_write_failed(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with FaultyClient(kafka.address) as client, started(client, topic) as instance:
            await client.cut_off()
            write = asyncio.create_task(instance.store.write([registration("a")]))
            await eventually(lambda: instance.log.writing_error is not None, "the writer to notice")
            await instance.store.resign()
            with pytest.raises(Fenced):
                await write
            client.mend()
            await eventually(lambda: instance.store.health.reading, "the reader to go on")
            assert instance.store.health.error is None

    asyncio.run(scenario())


def test_who_does_not_lead_does_not_write(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, started(client, topic) as instance:
            await instance.store.resign()
            with pytest.raises(Fenced):
                await instance.store.write([registration("a")])
            assert await instance.log.end_offset() == 1

    asyncio.run(scenario())


def test_a_recreated_topic_is_read_again_from_its_start(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client, started(client, topic) as instance:
            await instance.store.write([registration("gone"), registration("gone too")])
            state = DeleteTopicState(name=topic)
            request = DeleteTopicsRequest(topics=[state], topic_names=[topic], timeout_ms=10_000)
            await client.send(request, DeleteTopicsResponse)
            await eventually(lambda: not instance.store.health.reading, "the reader to notice")
            await provide(client, TopicSettings(topic, 1))
            await eventually(lambda: instance.restarts == 1, "the reader to start again")
            await append(client, topic, [registration("new")])
            await instance.store.catch_up()
            assert list(instance.memory) == [SchemaKey("new", 1)]
            assert instance.store.health.reading

    asyncio.run(scenario())


def test_a_compacted_topic_gives_the_same_memory(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker(log_cleaner_backoff_ms=20)
    compaction = {"segment.ms": "1", "min.cleanable.dirty.ratio": "0.0001", "delete.retention.ms": "0"}

    async def scenario() -> None:
        async with Client(broker.address) as client:
            await provide(client, TopicSettings(topic, 1, compaction))
            async with started(client, topic) as instance:
                for schema_id in range(8):
                    await instance.store.write([registration("a", schema_id), registration(f"b{schema_id}")])

                async def has_gaps() -> bool:
                    page = await instance.log.read(0, 10)
                    offsets = [record.offset for record in page.records]
                    return offsets != list(range(page.next_offset)) and len(offsets) < 2 * 8

                await wait_for_async(has_gaps, "the cleaner to leave gaps")
                async with started(client, topic, leads=False) as late:
                    assert late.memory == instance.memory
                    assert late.store.position == instance.store.position

    asyncio.run(scenario())


def test_a_broker_that_restarts_is_found_again(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()

    async def scenario() -> None:
        async with Client(broker.address) as client, started(client, topic, timeout_ms=1_000) as instance:
            await instance.store.write([registration("a")])
            broker.kill()
            await eventually(lambda: instance.store.health.error is not None, "the reader to notice")
            assert not instance.store.health.reading
            first = asyncio.create_task(instance.store.write([registration("first")]))
            await eventually(lambda: instance.log.writing_error is not None, "the writer to notice")
            late = [instance.store.write([registration("never sent")]), instance.store.catch_up()]
            found = await asyncio.gather(first, *late, return_exceptions=True)
            assert [type(failure) for failure in found] == [StoreTimeout] * 3
            await asyncio.to_thread(broker.start)
            await eventually(lambda: instance.store.health.reading, "the reader to go on")
            await eventually(lambda: SchemaKey("first", 1) in instance.memory, "the write in doubt to arrive")

            async def is_written() -> bool:
                try:
                    return bool(await instance.store.write([registration("b")]))
                except StoreTimeout:
                    return False

            await wait_for_async(is_written, "writes to work again")
            assert instance.store.health.error is None
            subjects = [applied.key.subject for applied in instance.applied if isinstance(applied.key, SchemaKey)]
            assert list(dict.fromkeys(subjects)) == ["a", "first", "b"]

    asyncio.run(scenario())


def test_a_start_without_a_broker_ends_in_time() -> None:
    async def scenario() -> None:
        async with Client("127.0.0.1:1") as client:
            log = TopicLog(client, TopicSettings("t"), "t-leader")
            store = Store(log, print, start_again=print, on_fenced=print, init_timeout_ms=200)
            with pytest.raises(StoreTimeout, match="is the broker running"):
                await store.start()
            await store.stop()

    asyncio.run(scenario())
