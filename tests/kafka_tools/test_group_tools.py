"""Groups with members and open transactions, shown by Kafka's tools and by ours on the same broker at the same time."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.producer.producer import Producer, ProducerSettings
from barnabas.kafka_tools.main import call
from barnabas.wire.client import Client
from tests.broker import BrokerProcess
from tests.clients.java_client import JavaTools
from tests.kafka_tools.members import members
from tests.kafka_tools.scenario import run_java, run_ours

TAG = secrets.token_hex(3)
TOPIC = f"group-tools-{TAG}"
PARTITIONS = 4
CLASSIC, STATIC, NEW = f"classic-{TAG}", f"static-{TAG}", f"new-{TAG}"
LIVE = f"--group {CLASSIC} --group {STATIC} --group {NEW}"
LINES = (
    f"kafka-consumer-groups --bootstrap-server {{broker}} --describe {LIVE} --members --verbose",
    f"kafka-consumer-groups --bootstrap-server {{broker}} --describe {LIVE} --verbose",
    f"kafka-consumer-groups --bootstrap-server {{broker}} --describe {LIVE} --state --verbose",
    "kafka-groups --bootstrap-server {broker} --list --consumer",
)


@pytest.fixture(scope="module")
def live_groups(broker: BrokerProcess) -> Iterator[str]:
    """Three groups with settled members: classic, static and of the new protocol."""
    create = ["--bootstrap-server", broker.address, "--create", "--topic", TOPIC, "--partitions", str(PARTITIONS)]
    assert call("kafka-topics", create) == 0
    with members(broker.address) as joined:
        for group, kind, assignor, instance in (
            (CLASSIC, "classic", "range", None),
            (CLASSIC, "classic", "range", None),
            (STATIC, "classic", "roundrobin", "instance-1"),
            (NEW, "consumer", "range", None),
        ):
            settings = ConsumerSettings(
                group, instance, kind, assignors=(assignor,), heartbeat_interval_ms=200, reset="earliest"
            )
            joined.join(settings, [TOPIC], f"client-{len(joined.consumers)}")
        joined.wait_until(
            lambda: [len(one.assignment) for one in joined.consumers] == [2, 2, PARTITIONS, PARTITIONS],
            "all members to have their partitions",
        )
        yield broker.address


def _of_ours(text: str) -> list[str]:
    """Other tests have groups, too; where names collide in Java's maps, the order is the broker's."""
    return sorted(
        line.split(f"-{TAG}")[0] + " " + " ".join(line.split()[1:]) for line in text.split("\n") if TAG in line
    )


@pytest.mark.parametrize("line", LINES)
def test_ours_shows_members_as_kafkas_tool_does(line: str, live_groups: str, java: Path, kafka_jars: Path) -> None:
    places = {"broker": live_groups}
    theirs, ours = run_java(JavaTools(java, kafka_jars), line, places), run_ours(line, places)
    assert (ours.status, ours.err) == (theirs.status, theirs.err) == (0, "")
    if "kafka-groups" in line:
        assert _of_ours(ours.out) == _of_ours(theirs.out)
        assert len(_of_ours(ours.out)) == 3
    else:
        assert ours.out == theirs.out
        assert ours.out.count(TAG) >= 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (f"--reset-offsets --group {CLASSIC} --all-topics --to-earliest --execute", "can only be reset if the group"),
        (f"--delete --group {NEW}", "GroupNotEmptyException: The group is not empty."),
        (
            f"--delete-offsets --group {STATIC} --topic {TOPIC}",
            "forbidden while the consumer group is actively subscribed",
        ),
    ],
    ids=["reset", "delete", "delete-offsets"],
)
def test_groups_with_members_are_left_alone(
    arguments: str, expected: str, live_groups: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("kafka-consumer-groups", ["--bootstrap-server", live_groups, *arguments.split()]) == 0
    assert expected in capsys.readouterr().out


def test_an_open_transaction_is_shown_as_by_kafkas_tool_and_can_be_terminated(
    broker: BrokerProcess, java: Path, kafka_jars: Path, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    transactional_id = f"open-{topic}"
    at = ["--bootstrap-server", broker.address]

    async def begin_and_look() -> None:
        settings = ProducerSettings.from_properties({"transactional.id": transactional_id})
        async with Client(broker.address) as client, Producer(client, settings) as producer:
            await producer.init_transactions()
            producer.begin_transaction()
            await (await producer.send(topic, b"value")).outcome()
            await asyncio.to_thread(compare)
            await producer.abort_transaction()

    def compare() -> None:
        line = f"kafka-transactions --bootstrap-server {{broker}} describe-producers --topic {topic} --partition 0"
        places = {"broker": broker.address}
        theirs, ours = run_java(JavaTools(java, kafka_jars), line, places), run_ours(line, places)
        assert (ours.status, ours.out, ours.err) == (theirs.status, theirs.out, theirs.err)
        shown = run_ours(
            f"kafka-transactions --bootstrap-server {{broker}} describe --transactional-id {transactional_id}", places
        )
        assert "\tOngoing " in shown.out
        assert f"\t{topic}-0" in shown.out

    asyncio.run(begin_and_look())
    assert call("kafka-transactions", [*at, "forceTerminateTransaction", "--transactionalId", transactional_id]) == 0
    capsys.readouterr()
    assert call("kafka-transactions", [*at, "list", "--transactional-id-pattern", transactional_id]) == 0
    rows = capsys.readouterr().out.split("\n")[1:-1]
    assert [row.split("\t")[0].strip() for row in rows] == [transactional_id]


SENT = ["timestamp", "name", "key", "value", "offset", "topic", "partition"]


def _events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_verifiable_tools_tell_of_every_record(
    group_protocol: str, broker: BrokerProcess, topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--bootstrap-server", broker.address, "--topic", topic]
    assert (
        call("kafka-verifiable-producer", [*at, "--max-messages", "5", "--repeating-keys", "2", "--value-prefix", "7"])
        == 0
    )
    events = _events(capsys.readouterr().out)
    names = ["startup_complete", *["producer_send_success"] * 5, "shutdown_complete", "tool_data"]
    assert [event["name"] for event in events] == names
    assert list(events[1]) == SENT
    assert [(event["key"], event["value"], event["offset"]) for event in events[1:6]] == [
        (str(n % 2), f"7.{n}", n) for n in range(5)
    ]
    assert (events[-1]["sent"], events[-1]["acked"], events[-1]["target_throughput"]) == (5, 5, -1)

    consume = [*at, "--group-id", topic, "--group-protocol", group_protocol]
    assert call("kafka-verifiable-consumer", [*consume, "--max-messages", "4", "--verbose"]) == 0
    events = _events(capsys.readouterr().out)
    assert [event["name"] for event in events] == [
        "startup_complete", "partitions_assigned", *["record_data"] * 4, "records_consumed", "offsets_committed",
        "partitions_revoked", "shutdown_complete", "shutdown_requested",
    ]  # fmt: skip
    where = {"topic": topic, "partition": 0}
    assert events[1]["partitions"] == events[-3]["partitions"] == [where]
    assert list(events[2]) == ["timestamp", "name", "key", "value", "topic", "partition", "offset"]
    assert events[6]["partitions"] == [{**where, "count": 4, "minOffset": 0, "maxOffset": 3}]
    assert {name: events[7][name] for name in ("offsets", "success")} == {
        "offsets": [{**where, "offset": 4}],
        "success": True,
    }

    assert call("kafka-verifiable-consumer", [*consume, "--max-messages", "1", "--enable-autocommit"]) == 0
    events = _events(capsys.readouterr().out)
    assert events[2]["partitions"] == [{**where, "count": 1, "minOffset": 4, "maxOffset": 4}]
    assert "offsets_committed" not in [event["name"] for event in events]
