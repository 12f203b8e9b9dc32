"""Groups and offsets through a whole broker: who may ask, where coordinators are, and what outlives a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from core_broker.broker import system_clock_ms
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import Denies
from tests.core_broker.broker_client import records
from tests.core_broker.coordinators.groups.group_client import TRANSACTION_KEY, GroupClient, assignment
from tests.core_broker.faults.hosted_broker import HostedBroker
from tests.waiting import wait_for

QUICK = {"group.initial.rebalance.delay.ms": "0"}
OFFSETS_TOPIC = "__consumer_offsets"
DAY_MS = 24 * 3_600_000


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[HostedBroker]:
    with HostedBroker(tmp_path, QUICK) as hosted:
        yield hosted


@pytest.fixture
def client(hosted: HostedBroker) -> Iterator[GroupClient]:
    with GroupClient(hosted.address) as client:
        yield client


@pytest.fixture
def ready(client: GroupClient) -> GroupClient:
    """A client that has found its coordinator, and two topics."""
    assert client.find("g").error_code == ErrorCode.NONE
    client.create("t", 2)
    client.create("u")
    return client


# Coordinators.


def test_whoever_looks_for_a_coordinator_finds_this_broker_at_its_advertised_address(tmp_path: Path) -> None:
    listeners = {
        "listeners": "IN://127.0.0.1:0,OUT://127.0.0.1:0",
        "advertised.listeners": "IN://127.0.0.1:19092,OUT://broker.example:9099",
        "listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT",
        "inter.broker.listener.name": "IN",
    }
    with HostedBroker(tmp_path, listeners) as hosted, GroupClient(hosted.address_of(1)) as client:
        for kind in (0, TRANSACTION_KEY):
            found = client.find("key", kind)
            assert (found.error_code, found.node_id, found.host, found.port) == (0, 1, "broker.example", 9099)


@pytest.mark.parametrize("version", range(7))
def test_every_version_finds_coordinators(hosted: HostedBroker, client: GroupClient, version: int) -> None:
    port = int(hosted.address.rpartition(":")[2])
    if version < 4:
        found = client.ask(FindCoordinatorRequest(key="g"), FindCoordinatorResponse, version)
        assert (found.error_code, found.node_id, found.host, found.port) == (0, 1, "127.0.0.1", port)
    else:
        several = FindCoordinatorRequest(key_type=0, coordinator_keys=["g", "h"])
        answers = client.ask(several, FindCoordinatorResponse, version).coordinators
        assert [(each.key, each.error_code, each.node_id, each.port) for each in answers] == [
            ("g", 0, 1, port),
            ("h", 0, 1, port),
        ]


def test_a_coordinators_topic_is_made_when_somebody_looks_for_it(client: GroupClient) -> None:
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=OFFSETS_TOPIC)], allow_auto_topic_creation=False)
    before = client.ask(asked, MetadataResponse, 12).topics[0]
    assert before.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    client.find("g")
    topic = client.ask(asked, MetadataResponse, 12).topics[0]
    assert (topic.error_code, topic.is_internal, len(topic.partitions)) == (0, True, 50)
    resource = DescribeConfigsResource(
        resource_type=2, resource_name=OFFSETS_TOPIC, configuration_keys=["cleanup.policy", "segment.bytes"]
    )
    (described,) = client.ask(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse, 4).results
    values = {config.name: config.value for config in described.configs}
    assert values == {"cleanup.policy": "compact", "segment.bytes": str(100 << 20)}


def test_before_there_is_a_coordinator_nobody_is_one(client: GroupClient) -> None:
    assert client.join("g").error_code == ErrorCode.NOT_COORDINATOR
    assert client.heartbeat("g", "m", 1) == ErrorCode.NOT_COORDINATOR
    assert client.fetch_offsets("g", "t").error_code == ErrorCode.NOT_COORDINATOR
    assert client.describe("g").error_code == ErrorCode.NOT_COORDINATOR
    assert client.delete_group("g") == ErrorCode.NOT_COORDINATOR
    listed = client.list_groups()
    assert (listed.error_code, listed.groups) == (ErrorCode.NONE, [])


def test_clients_do_not_write_to_the_coordinators_topic(ready: GroupClient) -> None:
    answer = ready.produce(OFFSETS_TOPIC, build_batch(records(b"forged")))
    assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


# Who may ask.


def deny(hosted: HostedBroker, operation: Operation, resource: ResourceType, name: str) -> None:
    hosted.broker.authorizer = Denies((operation, resource, name))


def test_without_read_on_the_group_nobody_takes_part(hosted: HostedBroker, ready: GroupClient) -> None:
    deny(hosted, Operation.READ, ResourceType.GROUP, "g")
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert ready.join("g").error_code == refused
    assert ready.sync("g", "m", 1).error_code == refused
    assert ready.heartbeat("g", "m", 1) == refused
    assert ready.leave("g", "m").error_code == refused
    assert ready.commit("g", "t", {0: 1, 1: 2}) == [refused, refused]
    assert ready.committed("g", "t") == -1


def test_without_describe_on_the_group_nobody_sees_it(hosted: HostedBroker, ready: GroupClient) -> None:
    ready.commit("g", "t", {0: 1})
    hosted.broker.authorizer = Denies(
        (Operation.DESCRIBE, ResourceType.GROUP, "g"), (Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    )
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert ready.find("g").error_code == refused
    assert ready.fetch_offsets("g", "t").error_code == refused
    assert ready.describe("g").error_code == refused
    assert ready.list_groups().groups == []
    deny(hosted, Operation.DESCRIBE, ResourceType.GROUP, "g")
    assert [group.group_id for group in ready.list_groups().groups] == ["g"], "who may describe the cluster sees all"


def test_without_delete_on_the_group_nobody_deletes(hosted: HostedBroker, ready: GroupClient) -> None:
    ready.commit("g", "t", {0: 1})
    deny(hosted, Operation.DELETE, ResourceType.GROUP, "g")
    assert ready.delete_group("g") == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert ready.delete_offsets("g", "t", 0).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert ready.committed("g", "t") == 1
    operations = ready.describe("g").authorized_operations
    assert operations & 1 << Operation.READ
    assert not operations & 1 << Operation.DELETE


def test_without_read_on_a_topic_its_offsets_are_not_changed(hosted: HostedBroker, ready: GroupClient) -> None:
    ready.commit("g", "t", {0: 1})
    deny(hosted, Operation.READ, ResourceType.TOPIC, "t")
    assert ready.commit("g", "t", {0: 2}) == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    assert ready.commit("g", "u", {0: 3}) == [ErrorCode.NONE]
    deleted = ready.delete_offsets("g", "t", 0)
    assert deleted.topics[0].partitions[0].error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert ready.committed("g", "t") == 1


def test_without_describe_on_a_topic_its_offsets_are_not_seen(hosted: HostedBroker, ready: GroupClient) -> None:
    ready.commit("g", "t", {0: 1})
    ready.commit("g", "u", {0: 2})
    deny(hosted, Operation.DESCRIBE, ResourceType.TOPIC, "t")
    found = ready.fetch_offsets("g", "t").topics[0].partitions[0]
    assert (found.error_code, found.committed_offset) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1)
    assert [topic.name for topic in ready.fetch_offsets("g").topics] == ["u"]


# What lasts.


def test_groups_and_offsets_outlive_a_restart(tmp_path: Path) -> None:
    with HostedBroker(tmp_path, QUICK) as hosted, GroupClient(hosted.address) as client:
        client.find("g")
        client.create("t")
        member = client.enter("g")
        assert client.commit("g", "t", {0: 7}, member=member, generation=1, metadata="note") == [ErrorCode.NONE]
    with HostedBroker(tmp_path, QUICK) as hosted, GroupClient(hosted.address) as client:
        wait_for(lambda: client.list_groups().error_code == ErrorCode.NONE, "groups are loaded")
        assert client.heartbeat("g", member, 1) == ErrorCode.NONE
        found = client.fetch_offsets("g", "t").topics[0].partitions[0]
        assert (found.committed_offset, found.metadata) == (7, "note")
        described = client.describe("g")
        assert (described.group_state, described.members[0].member_assignment) == ("Stable", assignment("t", 0))
        assert client.sync("g", member, 1).assignment == assignment("t", 0)


def test_the_offsets_of_a_deleted_topic_are_gone(ready: GroupClient) -> None:
    ready.commit("g", "t", {0: 1, 1: 2})
    ready.commit("g", "u", {0: 3})
    topic = DeleteTopicState(name="t")
    deleted = ready.ask(DeleteTopicsRequest(topics=[topic], timeout_ms=10_000), DeleteTopicsResponse, 6)
    assert deleted.responses[0].error_code == ErrorCode.NONE
    ready.create("t", 2)
    assert [ready.committed("g", "t", 0), ready.committed("g", "t", 1), ready.committed("g", "u")] == [-1, -1, 3]


def test_offsets_grow_old_with_the_brokers_clock(tmp_path: Path) -> None:
    later_ms = 0
    settings = {**QUICK, "offsets.retention.minutes": str(24 * 60), "offsets.retention.check.interval.ms": "20"}
    with (
        HostedBroker(tmp_path, settings, clock_ms=lambda: system_clock_ms() + later_ms) as hosted,
        GroupClient(hosted.address) as client,
    ):
        client.find("g")
        client.create("t")
        client.commit("g", "t", {0: 1})
        later_ms = DAY_MS - 60_000
        client.commit("h", "t", {0: 2})
        assert client.committed("g", "t") == 1
        later_ms = DAY_MS
        wait_for(lambda: [group.group_id for group in client.list_groups().groups] == ["h"], "the old group is gone")
        assert (client.committed("g", "t"), client.committed("h", "t")) == (-1, 2)


def test_a_storm_of_joins_over_one_connection_is_stopped(tmp_path: Path) -> None:
    settings = {**QUICK, "connection.max.group.members": "20"}
    with HostedBroker(tmp_path, settings) as hosted, GroupClient(hosted.address) as client:
        client.find("g")
        codes = [client.ask(client.join_request(f"g{number}"), JoinGroupResponse, 9).error_code for number in range(30)]
        assert codes == [ErrorCode.MEMBER_ID_REQUIRED] * 20 + [ErrorCode.GROUP_MAX_SIZE_REACHED] * 10
        with GroupClient(hosted.address) as other:
            assert other.join("g").error_code == ErrorCode.NONE
