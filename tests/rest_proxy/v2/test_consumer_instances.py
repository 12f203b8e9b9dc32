"""All instances of a process: how many there may be, when they are forgotten, and what remains when the process stops."""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.settings import resolve
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability
from rest_proxy.kafka.threads import Threads
from rest_proxy.settings import REST_CATALOGUE
from rest_proxy.v2.consuming.choice import InstanceChoice
from rest_proxy.v2.consuming.instance import Instance
from rest_proxy.v2.consuming.instances import Instances
from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.rest_proxy.v2.written_topics import create_topic
from tests.waiting import wait_for, wait_for_async

PATIENCE_S = 90.0
MANY = 10_000


@asynccontextmanager
async def running(bootstrap: str, **settings: object) -> AsyncIterator[Instances]:
    named = {name.replace("_", "."): str(value) for name, value in settings.items()}
    threads = Threads("test", 4)
    instances = Instances(
        resolve(REST_CATALOGUE, {"bootstrap.servers": bootstrap, **named}, {}), threads, Reachability(), asyncio.Event()
    )
    try:
        yield instances
    finally:
        await instances.stop()
        threads.stop()


def members(broker: BarnabasBroker, group: str) -> int:
    admin = AdminClient({"bootstrap.servers": broker.address})
    description = admin.describe_consumer_groups([group])[group].result(PATIENCE_S)
    return 0 if description.state == ConsumerGroupState.EMPTY else len(description.members)


async def subscribed(instances: Instances, group: str, topic: str) -> Instance:
    instance = instances.find(*instances.open(group, InstanceChoice.of({})))
    await instance.run(instance.member.subscribe, [topic])
    await instance.settle()
    return instance


@pytest.fixture
def group() -> str:
    return f"group-{secrets.token_hex(4)}"


def refusal(call: Callable[[], object]) -> HttpError:
    with pytest.raises(HttpError) as caught:
        call()
    return caught.value


def test_an_instance_that_nobody_asks_expires_and_leaves_its_group(
    barnabas: BarnabasBroker, topic: str, group: str
) -> None:
    create_topic(barnabas, topic, 1)

    async def scene() -> None:
        async with running(barnabas.address, consumer_instance_timeout_ms=1) as instances:
            name = instances.open(group, InstanceChoice.of({}))
            instance = instances.find(*name)
            with instance.used():
                await instance.run(instance.member.subscribe, [topic])
                await instance.settle()
                assert members(barnabas, group) == 1
            await wait_for_async(lambda: is_gone(instance), "the expiry", PATIENCE_S)
            assert refusal(lambda: instances.find(*name)).code == 40403
            await asyncio.to_thread(wait_for, lambda: members(barnabas, group) == 0, "an empty group", PATIENCE_S)

    async def is_gone(instance: Instance) -> bool:
        return instance.member.is_closed

    asyncio.run(scene())


def test_the_end_of_the_process_empties_all_groups(barnabas: BarnabasBroker, topic: str, group: str) -> None:
    create_topic(barnabas, topic, 1)

    async def scene() -> None:
        async with running(barnabas.address) as instances:
            for number in range(3):
                await subscribed(instances, f"{group}-{number}", topic)
        assert [members(barnabas, f"{group}-{number}") for number in range(3)] == [0, 0, 0]

    asyncio.run(scene())


def test_idle_instances_are_cheap_and_bounded(group: str) -> None:
    async def scene() -> None:
        async with running("127.0.0.1:1", consumer_instances_max=MANY) as instances:
            threads_before = threading.active_count()
            for _ in range(MANY):
                instances.open(group, InstanceChoice.of({"format": "avro"}))
            too_many = refusal(lambda: instances.open(group, InstanceChoice.of({})))
            assert (too_many.status, too_many.headers) == (503, {"retry-after": "10"})
            assert f"{MANY} consumer instances are open" in too_many.message
            # Threads of tests before this one may end meanwhile.
            assert threading.active_count() <= threads_before

    asyncio.run(scene())


def test_without_a_broker_a_read_says_so_and_goes_on_when_it_is_back(
    start_broker: StartBroker, topic: str, group: str
) -> None:
    broker = start_broker(group_initial_rebalance_delay_ms=0)
    create_topic(broker, topic, 1)

    async def scene() -> None:
        async with running(broker.address, consumer_request_timeout_ms=100) as instances:
            instance = await subscribed(instances, group, topic)
            name = instances.open(f"{group}-2", InstanceChoice.of({}))
            other = instances.find(*name)
            await other.run(other.member.subscribe, [topic])
            assert await instance.fetched(instance.limits) == await other.fetched(other.limits) == []
            broker.kill()
            await wait_for_async(lambda: fails(instance), "a failure", PATIENCE_S)
            await wait_for_async(lambda: fails(other), "a failure", PATIENCE_S)
            await asyncio.wait_for(instances.delete(*name), PATIENCE_S)
            await asyncio.to_thread(broker.start)
            await wait_for_async(lambda: succeeds(instance), "a read", PATIENCE_S)

    async def fails(instance: Instance) -> bool:
        try:
            await instance.fetched(instance.limits)
        except KafkaFailure as failure:
            return failure.name in ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT")
        return False

    async def succeeds(instance: Instance) -> bool:
        return not await fails(instance)

    asyncio.run(scene())


def test_settings_that_librdkafka_refuses_are_told(barnabas: BarnabasBroker, group: str, topic: str) -> None:
    async def scene() -> None:
        async with running(barnabas.address, consumer_session_timeout_ms=0) as instances:
            with pytest.raises(HttpError) as caught:
                await subscribed(instances, group, topic)
            assert (caught.value.status, caught.value.code) == (422, 42204)
            assert "session.timeout.ms" in caught.value.message

    asyncio.run(scene())
