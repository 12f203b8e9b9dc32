"""Streams outlive the broker, follow what becomes of their topics, wait for clients that do not read, and end with the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.broker import BarnabasBroker
from tests.conftest import StartBroker
from tests.registry import ask
from tests.rest import RestProcess
from tests.rest_proxy.streams.open_stream import EVENTS, OpenStream
from tests.rest_proxy.v3.upload import Upload
from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for

NO_REGISTRY = "http://127.0.0.1:1"
V2 = {"Content-Type": "application/vnd.kafka.v2+json"}
V2_JSON = {"Accept": "application/vnd.kafka.json.v2+json"}
FLUSH_S = 90.0
PORTION = 20

STALLED = 30
STALLED_RECORDS = 20_000
STALLED_RECORD_BYTES = 1_000
STALLED_MAX_MB = 140
"""All of them and the consumers that read for them; each would have twenty times a megabyte to send."""


@pytest.fixture
def proxy(barnabas: BarnabasBroker, tmp_path: Path) -> Iterator[RestProcess]:
    """A service that belongs to the test alone."""
    own = RestProcess(tmp_path / "rest", barnabas.address, NO_REGISTRY)
    own.start()
    yield own
    if own.is_running():
        own.stop()


def write(bootstrap: str, topic: str, values: list[bytes], partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "queue.buffering.max.messages": 1_000_000})
    for value in values:
        producer.produce(topic, value, partition=partition)
    assert producer.flush(FLUSH_S) == 0


def numbers(start: int) -> bytes:
    return b"".join(b'{"value":{"type":"JSON","data":%d}}' % number for number in range(start, start + PORTION))


def place(record: dict[str, Any]) -> tuple[int, int]:
    return record["partition_id"], record["offset"]


class Instance:
    """A consumer instance of v2, and where the records lay that it has read."""

    def __init__(self, url: str, topic: str) -> None:
        self._url = url
        self._path = f"/consumers/{topic}/instances/one"
        self.places: list[tuple[int, int]] = []
        opened = {"name": "one", "format": "json", "auto.offset.reset": "earliest"}
        assert ask(url, "POST", f"/consumers/{topic}", opened, V2).status == 200
        assert ask(url, "POST", f"{self._path}/subscription", {"topics": [topic]}, V2).status == 204

    def has(self, count: int) -> bool:
        answer = ask(self._url, "GET", f"{self._path}/records", headers=V2_JSON)
        if answer.status == 200:
            self.places += [(record["partition"], record["offset"]) for record in answer.body]
        return len(self.places) >= count


def test_open_streams_go_on_when_the_broker_was_killed(start_broker: StartBroker, tmp_path: Path, topic: str) -> None:
    broker = start_broker(group_initial_rebalance_delay_ms=0)
    proxy = RestProcess(tmp_path / "rest", broker.address, NO_REGISTRY)
    proxy.start()
    service = V3Service.at(proxy.url, broker.address)
    service.create(topic, 2)
    instance = Instance(proxy.url, topic)
    with ExitStack() as opened:
        upload = opened.enter_context(Upload(service, topic))
        events = opened.enter_context(OpenStream(service, topic, "from=beginning", EVENTS))
        member = opened.enter_context(OpenStream(service, topic, f"from=beginning&group={topic}-lines"))
        upload.send(numbers(0))
        receipts = upload.receipts(PORTION)
        seen, taken = events.events(PORTION), member.records(PORTION)
        wait_for(lambda: instance.has(PORTION), "records before the kill")

        broker.kill()
        upload.send(numbers(PORTION))
        broker.start()
        upload.send(numbers(2 * PORTION))
        receipts += upload.finish()
        seen += events.events(2 * PORTION)
        taken += member.records(2 * PORTION)
        wait_for(lambda: instance.has(3 * PORTION), "records after it")

        written = {place(receipt): number for number, receipt in enumerate(receipts)}
        assert {place(record): record["value"]["data"] for _, record in seen} == written
        assert {place(record): record["value"]["data"] for record in taken} == written
        assert sorted(instance.places) == sorted(written)
        assert len(seen) == len(taken) == len(written) == 3 * PORTION
        assert [name for name, _ in seen] == list(ids([place(record) for _, record in seen]))
        again = opened.enter_context(OpenStream(service, topic, "", EVENTS, Last_Event_ID=seen[PORTION - 1][0]))
        assert sorted(place(record) for _, record in again.events(2 * PORTION)) == sorted(
            place(record) for _, record in seen[PORTION:]
        )
    proxy.stop()


def ids(places: list[tuple[int, int]]) -> Iterator[str]:
    """The ids that events at these places have: where each partition goes on."""
    positions = dict.fromkeys((0, 1), 0)
    for partition, offset in places:
        positions[partition] = offset + 1
        yield ",".join(f"{number}:{next_one}" for number, next_one in positions.items())


def test_streams_follow_what_becomes_of_their_topics(rest_url: str, barnabas: BarnabasBroker, topic: str) -> None:
    service = V3Service.at(rest_url, barnabas.address)
    grown, renewed, deleted = (f"{topic}-{fate}" for fate in ("grown", "renewed", "deleted"))
    with ExitStack() as opened:
        streams = []
        for name in (grown, renewed, deleted):
            service.create(name, 2)
            write(barnabas.address, name, [b"0", b"1"])
            streams.append(opened.enter_context(OpenStream(service, name, "from=beginning")))
            assert list(map(place, streams[-1].records(2))) == [(0, 0), (0, 1)]
        narrow = opened.enter_context(OpenStream(service, grown, "partition=0"))

        assert service.ask("PATCH", f"/topics/{grown}", {"partitions_count": 3}).status == 200
        write(barnabas.address, grown, [b"2"], 2)
        for name in (renewed, deleted):
            assert service.ask("DELETE", f"/topics/{name}").status == 204
        service.create(renewed)
        write(barnabas.address, renewed, [b"2"])

        assert place(*streams[0].records(1)) == (2, 0)
        (first,) = streams[1].records(1)
        assert (place(first), first["value"]["data"]) == ((0, 0), 2)
        assert [line["error_code"] for line in streams[2].rest()] == [40403]
        write(barnabas.address, grown, [b"3"])
        assert place(*narrow.records(1)) == place(*streams[0].records(1)) == (0, 2)


def test_a_client_that_does_not_read_costs_little_and_goes_on_later(
    proxy: RestProcess, barnabas: BarnabasBroker, topic: str
) -> None:
    service = V3Service.at(proxy.url, barnabas.address)
    service.create(topic)
    write(barnabas.address, topic, [b'"%b"' % (b"x" * STALLED_RECORD_BYTES)] * STALLED_RECORDS)
    query = f"from=beginning&limit={STALLED_RECORDS}"
    before_mb = resident_mb(proxy.pid)
    with ExitStack() as opened:
        stalled = [opened.enter_context(OpenStream(service, topic, query)) for _ in range(STALLED)]
        with OpenStream(service, topic, query) as reader:
            assert len(reader.rest()) == STALLED_RECORDS
        assert resident_mb(proxy.pid) - before_mb < STALLED_MAX_MB
        assert [record["offset"] for record in stalled[0].rest()] == list(range(STALLED_RECORDS))


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def test_what_is_open_ends_with_the_service(proxy: RestProcess, barnabas: BarnabasBroker, topic: str) -> None:
    service = V3Service.at(proxy.url, barnabas.address)
    service.create(topic)
    Instance(proxy.url, topic)
    read: list[int] = []
    path = f"/consumers/{topic}/instances/one/records?timeout=25000"
    waiting = threading.Thread(target=lambda: read.append(ask(proxy.url, "GET", path, headers=V2_JSON).status))
    with ExitStack() as opened:
        upload = opened.enter_context(Upload(service, topic))
        streams = [
            opened.enter_context(OpenStream(service, topic, query, accept))
            for query, accept in (("", EVENTS), ("group=g", EVENTS), ("", "application/x-ndjson"))
        ]
        waiting.start()
        upload.send(numbers(0))
        assert len(upload.receipts(PORTION)) == PORTION
        upload.send(b'{"value":{"type":"JSON","da')
        assert proxy.stop() == 0
        log = proxy.log.read_text()
        assert "connections were still open" not in log, "nobody was waited for"
        assert "did not leave their groups" not in log
        assert upload.rest() == []
        for stream in streams:
            stream.answer.read()
    waiting.join()
    assert read == [200]
