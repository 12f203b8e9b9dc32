"""Transactions on a real broker: half a batch is never committed, and a commit that was broken off goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from connect.api.source import SourceOffset
from connect.errors import ConnectError
from connect.tasks import delivery as delivery_module
from connect.tasks.control import TaskStop
from connect.tasks.delivery import DeliveryContext, TransactionalDelivery, shut_out_predecessors
from connect.tasks.record_producer import RecordProducer, TopicMessages, producer_settings
from connect.tasks.settings import error_settings
from connect.tasks.source_offsets import ReachedOffsets
from connect.tasks.spec import TaskId
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance
from tests.broker import BrokerProcess
from tests.conftest import StartBroker
from tests.connect.tasks import topics
from tests.connect.tasks.running_tasks import worker_config

TIMEOUT_S = 90.0


def batch(topic: str, *values: bytes) -> TopicMessages:
    return TopicMessages(topic, [{"key": None, "value": value} for value in values])


def delivery_parts(bootstrap: str, topic: str, check: Callable[[], None] = lambda: None) -> DeliveryContext:
    producer = RecordProducer(producer_settings(worker_config(bootstrap), {}, "me", topic), check)
    shut_out_predecessors(producer)
    metrics = TaskMetrics(is_source=True)
    tolerance = Tolerance(error_settings({}), TaskId("c", 0), metrics, None)
    return DeliveryContext(producer, ReachedOffsets("c", []), tolerance, metrics, 0.0)


def test_half_a_batch_is_never_committed(barnabas: BrokerProcess, topic: str) -> None:
    parts = delivery_parts(barnabas.address, topic)
    metrics, offsets = parts.metrics, parts.offsets
    delivery = TransactionalDelivery(parts, f"{topic}-offsets")

    delivery.begin_batch()
    parts.producer.send(batch(topic, b"half"))
    assert not delivery.has_uncommitted
    assert not delivery.commit(TIMEOUT_S)
    delivery.abandon()

    delivery.begin_batch()
    delivery.send([batch(topic, b"whole", b"too")], [SourceOffset({}, {"at": 2})])
    delivery.commit_if_due(TIMEOUT_S)
    assert topics.values(barnabas.address, topic) == ["whole", "too"]
    assert topics.values(barnabas.address, f"{topic}-offsets") == ['{"at":2}']
    assert (metrics.commits, metrics.failed_commits, offsets.pending) == (1, 1, ())


def test_a_commit_that_a_stop_broke_off_goes_on(
    start_broker: StartBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = start_broker()

    def stop() -> None:
        raise TaskStop

    parts = delivery_parts(broker.address, topic, stop)
    delivery = TransactionalDelivery(parts, f"{topic}-offsets")
    delivery.begin_batch()
    delivery.send([batch(topic, b"one", b"two")], [SourceOffset({}, {"at": 2})])
    broker.kill()
    with monkeypatch.context() as impatient:
        impatient.setattr(delivery_module, "TRANSACTION_TIMEOUT_S", 0.5)
        with pytest.raises(TaskStop):
            delivery.commit(TIMEOUT_S)
    broker.start()
    assert delivery.commit(TIMEOUT_S)
    assert topics.values(broker.address, topic) == ["one", "two"]
    assert topics.values(broker.address, f"{topic}-offsets") == ['{"at":2}']
    assert parts.offsets.pending == ()


class ShutOut:
    """A producer whose end librdkafka has still to report; it does so in whichever call comes next."""

    def __init__(self, client: Producer) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def poll(self, timeout_s: float) -> int:
        raise KafkaException(KafkaError(KafkaError._FENCED, "fenced", fatal=True))

    flush = poll


def test_who_is_shut_out_is_told_why_by_whatever_is_done_next_and_can_end(barnabas: BrokerProcess, topic: str) -> None:
    parts = delivery_parts(barnabas.address, topic)
    delivery = TransactionalDelivery(parts, f"{topic}-offsets")
    delivery.begin_batch()
    delivery.send([batch(topic, b"one")], [SourceOffset({}, {"at": 1})])
    parts.producer.client = ShutOut(parts.producer.client)  # type: ignore[assignment]
    for act in (delivery.look_for_failures, lambda: parts.producer.send(batch(topic, b"two"))):
        with pytest.raises(ConnectError, match="another process runs this task now"):
            act()
    delivery.abandon()
    assert not delivery.has_uncommitted
