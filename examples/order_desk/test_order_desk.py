"""The order desk on a real broker: `kafka` is a fixture that the package barnabas brings along."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
from order_desk import OrderDesk, Topics

from barnabas.embedded.broker import EmbeddedBroker

DEADLINE_SECONDS = 60.0


@pytest.fixture
def topics(kafka: EmbeddedBroker) -> Topics:
    return Topics(kafka.create_topic(partitions=2), kafka.create_topic(), kafka.create_topic())


@pytest.fixture
def desk(kafka: EmbeddedBroker, topics: Topics) -> Iterator[OrderDesk]:
    desk = OrderDesk(kafka.bootstrap_servers, topics, name=topics.orders)
    yield desk
    desk.close()


def order(kafka: EmbeddedBroker, topics: Topics, item: str, count: object = 1) -> None:
    kafka.produce(topics.orders, json.dumps({"item": item, "count": count}), key=item)


def answers(kafka: EmbeddedBroker, topic: str) -> list[dict[str, object]]:
    return [json.loads(record.value or b"null") for record in kafka.records(topic)]


def step_until(desk: OrderDesk, condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        desk.step()


def test_an_order_is_answered(kafka: EmbeddedBroker, topics: Topics, desk: OrderDesk) -> None:
    order(kafka, topics, "nail", 3)
    step_until(desk, lambda: kafka.records(topics.receipts))
    assert answers(kafka, topics.receipts) == [{"item": "nail", "total": 30}]


def test_a_poison_order_is_set_aside_and_the_next_one_answered(
    kafka: EmbeddedBroker, topics: Topics, desk: OrderDesk
) -> None:
    kafka.produce(topics.orders, "{not json")
    order(kafka, topics, "hammer")
    step_until(desk, lambda: kafka.records(topics.receipts))
    assert [rejected["offset"] for rejected in answers(kafka, topics.rejected)] == [0]


def test_each_order_is_answered_once_although_the_network_stood_still(
    kafka: EmbeddedBroker, topics: Topics, desk: OrderDesk
) -> None:
    order(kafka, topics, "nail")
    step_until(desk, lambda: kafka.records(topics.receipts))
    kafka.faults.stall()
    order(kafka, topics, "hammer")
    assert desk.step() == 0
    kafka.faults.clear()
    step_until(desk, lambda: len(kafka.records(topics.receipts)) == 2)
    assert [receipt["item"] for receipt in answers(kafka, topics.receipts)] == ["nail", "hammer"]


def test_each_order_is_answered_once_although_the_session_was_lost(
    kafka: EmbeddedBroker, topics: Topics, desk: OrderDesk
) -> None:
    order(kafka, topics, "nail")
    step_until(desk, lambda: kafka.records(topics.receipts))
    kafka.faults.expire_sessions()
    order(kafka, topics, "hammer")
    step_until(desk, lambda: len(kafka.records(topics.receipts)) >= 2)
    desk.step()
    assert [receipt["item"] for receipt in answers(kafka, topics.receipts)] == ["nail", "hammer"]
