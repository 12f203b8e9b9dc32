"""`barnabas connectors dlq` on a real broker: what could not be processed, shown and sent again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from barnabas.cli.main import main
from tests.cli.connectors.small_worker import SmallWorker
from tests.ports import free_port
from tests.waiting import DEADLINE_S

Dlq = Callable[..., tuple[int, str, str]]
TIMESTAMP_MS = 1_700_000_000_000


@pytest.fixture
def dlq(topic: str, broker_address: str, capsys: pytest.CaptureFixture[str]) -> Iterator[Dlq]:
    """Run an action of a connector whose dead letters go to `TOPIC-dead`. Returns its status and what it said."""
    worker = SmallWorker()
    worker.add("files", {"errors.deadletterqueue.topic.name": f"{topic}-dead"})
    worker.add("plain")

    def run(verb: str, *words: str, server: str = broker_address) -> tuple[int, str, str]:
        capsys.readouterr()
        name = () if "plain" in words else ("files",)
        status = main(["connectors", "dlq", verb, *name, *words, "--connect", worker.url, "-b", server])
        return status, *capsys.readouterr()

    yield run
    worker.stop()


@pytest.fixture
def letters(topic: str, broker_address: str) -> Callable[..., None]:
    """Put letters there that came from the topic, or from none."""

    def put(count: int, *, transactional: bool = False, with_headers: bool = True, of_source: bool = False) -> None:
        AdminClient({"bootstrap.servers": broker_address}).create_topics(
            [NewTopic(name, 1, 1) for name in (topic, f"{topic}-dead")]
        )
        producer = Producer(
            {"bootstrap.servers": broker_address, **({"transactional.id": topic} if transactional else {})}
        )
        if transactional:
            producer.init_transactions(DEADLINE_S)
            producer.begin_transaction()
        for number in range(count):
            context = {"topic": topic, "partition": "0", "offset": f"{number}", "stage": "TASK_PUT"}
            context |= {"exception.message": f"row {number} is bad"}
            if of_source:
                del context["partition"], context["offset"]
            headers = [(f"__connect.errors.{name}", text.encode()) for name, text in context.items() if with_headers]
            producer.produce(
                f"{topic}-dead", f"v{number}", f"k{number}", headers=[("own", b"kept"), *headers], timestamp=TIMESTAMP_MS
            )  # fmt: skip
        if transactional:
            producer.commit_transaction(DEADLINE_S)
        assert producer.flush(DEADLINE_S) == 0

    return put


def read(server: str, topic: str, count: int) -> list[Any]:
    consumer = Consumer({"bootstrap.servers": server, "group.id": topic, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [consumer.poll(DEADLINE_S) for _ in range(count)]
    finally:
        consumer.close()


def test_letters_tell_where_they_came_from_and_why(dlq: Dlq, letters: Callable[..., None], topic: str) -> None:
    letters(3)
    status, out, _ = dlq("show", "-o", "json")
    assert (status, json.loads(out)[1]) == (
        0,
        {
            "letter": 1,
            "from": f"{topic}-0@1",
            "stage": "TASK_PUT",
            "reason": "row 1 is bad",
            "key": "k1",
            "value": "v1",
        },
    )
    shown = [
        json.loads(line)["letter"]
        for line in dlq("show", "-o", "jsonl", "--from-offset", "1", "-n", "1")[1].splitlines()
    ]
    assert shown == [1]
    assert len(dlq("show", "--from-offset", "3")[1].splitlines()) == 1


def test_letters_are_sent_again_as_they_were(
    dlq: Dlq, letters: Callable[..., None], topic: str, broker_address: str
) -> None:
    letters(3)
    assert dlq("replay") == (2, "", "barnabas: nothing was changed: this cannot be undone\n  Say so with --yes.\n")
    assert dlq("replay", "--yes", "--from-offset", "1") == (0, "sent 2 records again\n", "")
    sent = read(broker_address, topic, 2)
    assert [(m.key(), m.value(), m.headers(), m.timestamp()[1]) for m in sent] == [
        (b"k1", b"v1", [("own", b"kept")], TIMESTAMP_MS),
        (b"k2", b"v2", [("own", b"kept")], TIMESTAMP_MS),
    ]
    assert len(json.loads(dlq("show", "-o", "json")[1])) == 3


def test_letters_are_sent_again_once(dlq: Dlq, letters: Callable[..., None], topic: str, broker_address: str) -> None:
    letters(3)
    assert dlq("replay", "--yes", "-n", "2") == (0, "sent 2 records again\n", "")
    assert dlq("replay", "--yes", "--from-offset", "1", "-n", "1")[1] == "sent 1 records again\n"
    assert dlq("replay", "--yes")[1] == "sent 1 records again\n"
    nothing = "sent 0 records again: there are no new letters, and --all sends old ones, too\n"
    assert dlq("replay", "--yes") == (0, nothing, "")
    # Those that came back are sent, and not those before them.
    letters(1)
    assert dlq("replay", "--yes")[1] == "sent 1 records again\n"
    assert dlq("replay", "--yes", "--all")[1] == "sent 4 records again\n"
    assert dlq("replay", "--yes")[1] == nothing
    sent = [message.value() for message in read(broker_address, topic, 9)]
    assert sent == [b"v0", b"v1", b"v1", b"v2", b"v0", b"v0", b"v1", b"v2", b"v0"]


def test_letters_of_sources_tell_the_topic_alone(dlq: Dlq, letters: Callable[..., None], topic: str) -> None:
    letters(1, of_source=True)
    assert json.loads(dlq("show", "-o", "json")[1])[0]["from"] == topic


def test_letters_of_a_transaction_end_before_its_marker(dlq: Dlq, letters: Callable[..., None]) -> None:
    letters(2, transactional=True)
    assert [row["value"] for row in json.loads(dlq("show", "-o", "json")[1])] == ["v0", "v1"]


def test_letters_that_do_not_say_where_from_are_not_sent(dlq: Dlq, letters: Callable[..., None]) -> None:
    letters(1, with_headers=False)
    status, _, said = dlq("replay", "--yes")
    assert (status, "errors.deadletterqueue.context.headers.enable=true" in said) == (1, True)
    assert json.loads(dlq("show", "-o", "json")[1])[0]["from"] is None


def test_a_connector_without_letters(dlq: Dlq, topic: str, broker_address: str) -> None:
    assert dlq("replay", "--yes", "--all") == (0, "sent 0 records again\n", "")
    # To look for the topic does not make it.
    assert (
        f"{topic}-dead" not in AdminClient({"bootstrap.servers": broker_address}).list_topics(timeout=DEADLINE_S).topics
    )
    status, _, said = dlq("show", "plain")
    assert (status, said.splitlines()[0]) == (1, "barnabas: plain has no dead letters")


def test_brokers_that_do_not_answer_are_named(dlq: Dlq, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.cli.connectors.dead_letters.READ_TIMEOUT_S", 0.3)
    status, _, said = dlq("show", server=f"127.0.0.1:{free_port()}")
    assert (status, "cannot be read" in said, "Is --bootstrap-servers right?" in said) == (1, True, True)
