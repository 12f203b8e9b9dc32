"""A file system without a byte to spare, under a broker of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from barnabas.cli.main import main
from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from core_broker.disk_health import PROBE_NAME
from tests.broker import BarnabasBroker
from tests.core_broker.broker_client import records, values
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.ledger import Ledger, Place
from tests.core_broker.metrics.scrape import ask
from tests.ports import free_port
from tests.small_disk import SmallDisk, mounted
from tests.waiting import wait_for

DISK_BYTES = 4 * 1024 * 1024
MANY_PARTITIONS = 300  # whose records do not fit into what is left of the metadata log's last page
EXIT_FAILURE = 1
FEW_BYTES = 460_000  # enough for a record, and too few for a batch
DELIVERY_DEADLINE_S = 30


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with mounted(tmp_path / "disk", DISK_BYTES) as disk:
        yield disk


@pytest.fixture
def crowded(small_disk: SmallDisk, tmp_path: Path) -> Iterator[BarnabasBroker]:
    """A broker whose data lie on the small disk."""
    settings = {
        "log.flush.offset.checkpoint.interval.ms": "50",
        "metrics.listener": f"http://127.0.0.1:{free_port()}",
    }
    running = BarnabasBroker(tmp_path / "broker", free_port(), settings)
    running.data_dir = small_disk.path / "data"
    running.start()
    yield running
    if running.is_running():
        running.kill()


def test_a_full_disk_refuses_writes_and_nothing_else(crowded: BarnabasBroker, small_disk: SmallDisk) -> None:
    with AdminClient(crowded.address) as client:
        for topic in ("large", "small"):
            client.create(topic)
            client.append(topic, b"before")
        small_disk.fill()
        for size in (200_000, 20_000):  # through the writer thread, and on the event loop
            refused = client.produce("large", build_batch(records(b"x" * size)))
            assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert "No space left" in (refused.error_message or "")
        assert values(client.read_all("large")) == [b"before"]
        created = client.try_create("half", MANY_PARTITIONS)
        assert created.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert sorted(client.topics()) == ["large", "small"]
        stored = append_small(client, 100)
        assert len(stored) < 100
        assert values(client.read_all("small")) == [b"before", *stored]
        small_disk.make_room()
        assert client.append("large", b"x" * 200_000) == 1
        assert client.append("small", b"after") == 1 + len(stored)
        assert client.try_create("half", MANY_PARTITIONS).error_code == ErrorCode.NONE
    crowded.restart()
    with AdminClient(crowded.address) as client:
        assert sorted(client.topics()) == ["half", "large", "small"]
        assert values(client.read_all("large")) == [b"before", b"x" * 200_000]
        assert values(client.read_all("small")) == [b"before", *stored, b"after"]


def test_health_tells_of_a_full_disk_also_when_nobody_writes(crowded: BarnabasBroker, small_disk: SmallDisk) -> None:
    port = metrics_port(crowded)

    def health() -> tuple[int, dict[str, Any]]:
        return health_of(crowded)

    assert health()[0] == HTTPStatus.OK
    small_disk.fill()
    wait_for(lambda: health()[0] == HTTPStatus.SERVICE_UNAVAILABLE, "the finding")
    status, body = health()
    assert (status, body["status"]) == (HTTPStatus.SERVICE_UNAVAILABLE, "unhealthy")
    assert body["checks"]["disk"]["reason"].startswith(f"disk full: {crowded.log_dir}: 0 bytes free")
    assert body["checks"]["disk"]["directory"] == str(crowded.log_dir)
    assert ask(port, path="/health/live")[0].status == HTTPStatus.OK
    small_disk.make_room()
    wait_for(lambda: health()[0] == HTTPStatus.OK, "the return")
    assert not (crowded.log_dir / PROBE_NAME).exists()


def test_a_disk_too_full_for_a_batch_is_reported_and_the_batch_stored_when_there_is_space(
    crowded: BarnabasBroker, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    with AdminClient(crowded.address) as client:
        client.create("topic")
        client.append("topic", b"before")
    assert "disk nearly full" in broker_row(crowded, capsys)["reason"]
    small_disk.fill(leave_bytes=FEW_BYTES)
    # One batch, since the broker's time-out is far and the records come fast; it does not fit, and the producer retries it.
    producer = Producer({"bootstrap.servers": crowded.address, "linger.ms": 100, "enable.idempotence": True})
    failures: list[object] = []
    sent = [b"%d:" % number + bytes(100_000) for number in range(8)]
    for value in sent:
        producer.produce("topic", value, on_delivery=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(0.5) > 0
    wait_for(lambda: health_of(crowded)[0] == HTTPStatus.SERVICE_UNAVAILABLE, "the finding")
    assert str(crowded.log_dir) in health_of(crowded)[1]["message"]
    row = broker_row(crowded, capsys)
    assert row["health"] == "unhealthy"
    assert row["reason"].startswith(f"disk full: {crowded.log_dir}: ")
    wait_for(lambda: f"disk full: {crowded.log_dir}" in crowded.tail(), "the log")
    limits = ("request.timeout.ms=400", "delivery.timeout.ms=500")
    words = ["produce", "topic", "x" * 2 * FEW_BYTES, "-b", crowded.address]
    assert main([*words, *(word for limit in limits for word in ("--set", limit))]) == 1
    printed = capsys.readouterr().err
    assert "not written yet, retrying: KAFKA_STORAGE_ERROR" in printed
    assert printed.count("No space left") == 2  # when it was retried, and at the end
    small_disk.make_room()
    assert producer.flush(DELIVERY_DEADLINE_S) == 0
    assert failures == []
    wait_for(lambda: broker_row(crowded, capsys)["health"] == "healthy", "the return")
    crowded.kill()
    crowded.start()
    with AdminClient(crowded.address) as client:
        assert values(client.read_all("topic")) == [b"before", *sent]


def broker_row(broker: BarnabasBroker, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `barnabas status` shows of a broker."""
    main(["status", "-b", broker.address, "--data-dir", str(broker.home), "-o", "json"])
    services = json.loads(capsys.readouterr().out)["services"]
    found: dict[str, Any] = next(service for service in services if service["name"] == "broker")
    return found


def metrics_port(broker: BarnabasBroker) -> int:
    return int(broker.settings["metrics.listener"].rpartition(":")[2])


def health_of(broker: BarnabasBroker) -> tuple[int, dict[str, Any]]:
    answer, body = ask(metrics_port(broker), path="/health")
    return answer.status, json.loads(body)


def append_small(client: AdminClient, count: int) -> list[bytes]:
    """Tries to append records that a file's last page may just take, and returns those that were."""
    stored = []
    for number in range(count):
        value = b"%d" % number
        answer = client.produce("small", build_batch(records(value)))
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR)
        if answer.error_code == ErrorCode.NONE:
            stored.append(value)
    return stored


@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_a_broker_that_ends_on_a_full_disk_loses_nothing(
    crowded: BarnabasBroker, small_disk: SmallDisk, way: str
) -> None:
    ledger, place = Ledger(), Place("topic", 0)
    with AdminClient(crowded.address) as client:
        client.create("topic", internal_segment_bytes="300000")
        small_disk.fill()
        for number in range(60):
            if number == 20:
                small_disk.make_room()
            value = b"%d:" % number + bytes(number * 3000)
            ledger.send(place, [value])
            answer = client.produce("topic", build_batch(records(value)))
            if answer.error_code == ErrorCode.NONE:
                ledger.acknowledge(place, answer.base_offset, [value])
        small_disk.fill()
    if way == "killed":
        crowded.kill()
    else:
        assert crowded.stop() == EXIT_FAILURE
        assert "the next start recovers" in crowded.tail()
        assert "Traceback" not in crowded.tail()
    small_disk.make_room()
    crowded.start()
    with AdminClient(crowded.address) as client:
        ledger.check(place, client.read_all("topic"))
        assert client.append("topic", b"after")


def test_a_broker_that_cannot_start_says_why(crowded: BarnabasBroker, small_disk: SmallDisk) -> None:
    with AdminClient(crowded.address) as client:
        client.create("topic", partitions=MANY_PARTITIONS)  # each gets a new leader epoch at the start
    crowded.kill()
    small_disk.fill()
    with pytest.raises(AssertionError, match="ended at its start"):
        crowded.start()
    assert "No space left" in crowded.tail()
    assert "Traceback" not in crowded.tail()
    small_disk.make_room()
    crowded.start()
    with AdminClient(crowded.address) as client:
        assert client.append("topic", b"a") == 0
