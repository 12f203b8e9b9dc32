"""Real consumers on their way from the classic protocol to the new one and back, and subscriptions that the broker matches."""

from confluent_kafka.admin import AdminClient

from tests.clients.confluent_client import ADMIN_DEADLINE_S, ConfluentClient, create_topic
from tests.clients.group_members import ConfluentMember, Position
from tests.clients.records import KEEP_FOREVER, numbered
from tests.waiting import wait_for

PARTITIONS = 4
RECORDS_EACH = 10
GROUP_DEADLINE_S = 180


def member(address: str, topic: str, group: str, protocol: str) -> ConfluentMember:
    if protocol == "consumer":
        return ConfluentMember(address, topic, group, group_protocol="consumer")
    return ConfluentMember(address, topic, group, partition_assignment_strategy="range")


def share(members: list[ConfluentMember], read: list[Position]) -> None:
    def is_shared() -> bool:
        for each in members:
            read.extend(each.poll())
        owned = [each.partitions() for each in members]
        return all(owned) and sum(map(len, owned)) == PARTITIONS

    wait_for(is_shared, "the partitions to be shared out", GROUP_DEADLINE_S)


def group_type(address: str, group: str) -> str:
    admin = AdminClient({"bootstrap.servers": address})
    listed = admin.list_consumer_groups().result(ADMIN_DEADLINE_S)
    (found,) = [each for each in listed.valid if each.group_id == group]
    return str(found.type.name)


def test_a_group_rolls_to_the_new_protocol_and_back(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, PARTITIONS, KEEP_FOREVER)
    group = f"group-{topic}"
    members = [member(broker_address, topic, group, "classic") for _ in range(2)]
    read: list[Position] = []
    written = 0

    def exchange() -> None:
        """Every record that is written now is read once, whoever is in the group."""
        nonlocal written
        for partition in range(PARTITIONS):
            ConfluentClient().produce(broker_address, topic, numbered(RECORDS_EACH), partition=partition)
        written += RECORDS_EACH
        expected = {Position(partition, offset) for partition in range(PARTITIONS) for offset in range(written)}

        def is_read() -> bool:
            for each in members:
                read.extend(each.poll())
            return set(read) >= expected

        wait_for(is_read, f"{len(expected)} records", GROUP_DEADLINE_S)
        for each in members:
            each.commit()

    try:
        share(members, read)
        exchange()
        assert group_type(broker_address, group) == "CLASSIC"
        for protocol in ("consumer", "consumer", "classic", "classic"):
            members.pop(0).close()
            members.append(member(broker_address, topic, group, protocol))
            share(members, read)
            exchange()
            assert group_type(broker_address, group) == (
                "CLASSIC" if protocol == "classic" and written == 50 else "CONSUMER"
            )
        assert sorted(read) == sorted(set(read)), "nothing was read twice: what was read had been committed"
    finally:
        for each in members:
            each.close()


def test_the_broker_matches_a_pattern(broker_address: str, topic: str) -> None:
    for suffix in "abc":
        create_topic(broker_address, f"{topic}-{suffix}", 1, KEEP_FOREVER)
        ConfluentClient().produce(broker_address, f"{topic}-{suffix}", numbered(RECORDS_EACH), partition=0)
    consumer = ConfluentMember(broker_address, f"^{topic}-[ab]$", f"group-{topic}", group_protocol="consumer")
    try:
        read: list[Position] = []

        def has_read() -> bool:
            read.extend(consumer.poll())
            return len(read) >= 2 * RECORDS_EACH

        wait_for(has_read, "the records of two topics", GROUP_DEADLINE_S)
        read.extend(consumer.poll())
        assert len(read) == 2 * RECORDS_EACH, "the third topic does not match"
    finally:
        consumer.close()
