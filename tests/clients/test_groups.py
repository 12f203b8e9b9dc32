"""Consumer groups of real clients: they share partitions, take over from each other, and go on where they stopped."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from tests.clients.confluent_client import ADMIN_DEADLINE_S, ConfluentClient, assigned, create_topic
from tests.clients.group_members import MEMBERS, ConfluentMember, Member, NewMember, Position
from tests.clients.java_client import JavaTools
from tests.clients.kcat_client import kcat
from tests.clients.records import KEEP_FOREVER, numbered
from tests.waiting import wait_for

PARTITIONS = 4
RECORDS_EACH = 25
EVERY_PARTITION = set(range(PARTITIONS))
GROUP_DEADLINE_S = 180


@pytest.fixture(params=list(MEMBERS))
def new_member(request: pytest.FixtureRequest) -> NewMember:
    return MEMBERS[request.param]


def fill(address: str, topic: str) -> None:
    for partition in range(PARTITIONS):
        ConfluentClient().produce(address, topic, numbered(RECORDS_EACH), partition=partition)


def every_record(first_offset: int = 0) -> list[Position]:
    return [
        Position(partition, offset)
        for partition in range(PARTITIONS)
        for offset in range(first_offset, first_offset + RECORDS_EACH)
    ]


def share(members: list[Member], read: list[Position]) -> None:
    """Polls until the partitions are shared out: everybody has some, and nobody has another's."""

    def is_shared() -> bool:
        for member in members:
            read.extend(member.poll())
        owned = [member.partitions() for member in members]
        return all(owned) and sum(map(len, owned)) == PARTITIONS and set().union(*owned) == EVERY_PARTITION

    wait_for(is_shared, "the partitions to be shared out", GROUP_DEADLINE_S)


def read_all(members: Iterable[Member], read: list[Position], expected: list[Position]) -> None:
    def is_read() -> bool:
        for member in members:
            read.extend(member.poll())
        return set(read) >= set(expected)

    wait_for(is_read, f"{len(expected)} records", GROUP_DEADLINE_S)


def test_members_share_take_over_and_go_on(broker_address: str, topic: str, new_member: NewMember) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    group = f"group-{topic}"
    members = [new_member(broker_address, topic, group) for _ in range(2)]
    try:
        read: list[Position] = []
        share(members, read)
        fill(broker_address, topic)
        read_all(members, read, every_record())
        assert sorted(read) == every_record(), "each record once"
        for member in members:
            member.commit()
        members.pop().close()
        share(members, read)
        fill(broker_address, topic)
        read_all(members, read, every_record(RECORDS_EACH))
        assert sorted(read) == sorted([*every_record(), *every_record(RECORDS_EACH)]), "each record once"
        members[0].commit()
    finally:
        for member in members:
            member.close()
    late = new_member(broker_address, topic, group)
    try:
        fill(broker_address, topic)
        read = []
        read_all([late], read, every_record(2 * RECORDS_EACH))
        assert sorted(read) == every_record(2 * RECORDS_EACH), "only what the group had not read"
    finally:
        late.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_static_member_comes_back_to_its_partitions(broker_address: str, topic: str, protocol: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)

    def static(instance: str) -> ConfluentMember:
        return ConfluentMember(
            broker_address, topic, f"group-{topic}", group_instance_id=instance, group_protocol=protocol
        )

    stays, returns = static("stays"), static("returns")
    try:
        share([stays, returns], [])
        before = stays.partitions(), returns.partitions()
        returns.close()
        returns = static("returns")
        share([stays, returns], [])
        assert (stays.partitions(), returns.partitions()) == before
    finally:
        stays.close()
        returns.close()


def test_kcat_consumes_in_a_group(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    fill(broker_address, topic)
    count = PARTITIONS * RECORDS_EACH
    arguments = ("-G", f"group-{topic}", "-c", str(count), "-f", "%p %o\n", "-X", "auto.offset.reset=earliest", topic)
    printed = kcat(broker_address, *arguments).decode().splitlines()
    assert sorted(Position(*map(int, line.split())) for line in printed) == every_record()


@pytest.mark.parametrize(
    "options",
    [
        ("--assignment-strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"),
        ("--group-protocol", "consumer", "--group-remote-assignor", "range"),
    ],
    ids=["cooperative", "consumer"],
)
def test_the_verifiable_consumer_shares_with_another(
    broker_address: str, topic: str, java_tools: JavaTools, tmp_path: Path, options: tuple[str, ...]
) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    group = f"group-{topic}"
    log = tmp_path / "consumer.log"
    common = ("--bootstrap-server", broker_address, "--topic", topic, "--group-id", group)
    if "consumer" in options:
        other = ConfluentMember(broker_address, topic, group, group_protocol="consumer")
    else:
        other = ConfluentMember(broker_address, topic, group, partition_assignment_strategy="cooperative-sticky")
    try:
        with java_tools.running(
            "org.apache.kafka.tools.VerifiableConsumer", *common, *options, "--reset-policy", "earliest", log=log
        ):
            read: list[Position] = []

            def shared() -> bool:
                read.extend(other.poll())
                return len(other.partitions()) == len(owned_by(log)) == PARTITIONS // 2

            wait_for(shared, "both to have half", GROUP_DEADLINE_S)
            assert other.partitions() | owned_by(log) == EVERY_PARTITION
            fill(broker_address, topic)

            def all_read() -> bool:
                read.extend(other.poll())
                return len(read) + consumed_by(log) >= PARTITIONS * RECORDS_EACH

            wait_for(all_read, "all records", GROUP_DEADLINE_S)
            assert len(read) + consumed_by(log) == PARTITIONS * RECORDS_EACH
    finally:
        other.close()


def events(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{") and line.endswith("}")]


def owned_by(log: Path) -> set[int]:
    owned: set[int] = set()
    for event in events(log):
        partitions = event.get("partitions")
        if event["name"] == "partitions_assigned" and isinstance(partitions, list):
            owned |= {entry["partition"] for entry in partitions}
        elif event["name"] == "partitions_revoked" and isinstance(partitions, list):
            owned -= {entry["partition"] for entry in partitions}
    return owned


def consumed_by(log: Path) -> int:
    return sum(int(str(event["count"])) for event in events(log) if event["name"] == "records_consumed")


def test_consumer_performance_reads_all(broker_address: str, topic: str, java_tools: JavaTools) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    fill(broker_address, topic)
    count = PARTITIONS * RECORDS_EACH
    printed = java_tools.run(
        "org.apache.kafka.tools.ConsumerPerformance",
        *("--bootstrap-server", broker_address, "--topic", topic, "--num-records", str(count), "--hide-header"),
        *("--group", f"group-{topic}", "--timeout", "20000"),
    )
    assert int(printed.splitlines()[-1].split(",")[4]) == count


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_console_consumer_commits_for_its_group(
    broker_address: str, topic: str, java_tools: JavaTools, protocol: str
) -> None:
    create_topic(broker_address, topic, 1, KEEP_FOREVER)
    ConfluentClient().produce(broker_address, topic, numbered(10))
    printed = java_tools.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", broker_address, "--topic", topic, "--from-beginning", "--group", f"group-{topic}"),
        *("--max-messages", "10", "--timeout-ms", "20000", "--command-property", f"group.protocol={protocol}"),
    )
    assert printed.splitlines() == [(record.value or b"").decode() for record in numbered(10)]
    with assigned(broker_address, [], group_id=f"group-{topic}") as consumer:
        (committed,) = consumer.committed([TopicPartition(topic, 0)], timeout=ADMIN_DEADLINE_S)
    assert committed.offset == 10
