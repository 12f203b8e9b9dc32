"""Metadata: the brokers, the topics, and topics that come into being because somebody asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import CLUSTER_ID, AdminBroker, Denies

NOT_ASKED = -(1 << 31)
ALL_ON_TOPIC, ALL_ON_CLUSTER = 3576, 8096


def ask(
    admin: AdminBroker,
    *names: str,
    version: int = 13,
    ids: tuple[bytes, ...] = (),
    create: bool = False,
    operations: bool = False,
) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in names]
    topics += [MetadataRequestTopic(name=None, topic_id=topic_id) for topic_id in ids]
    request = MetadataRequest(
        topics=topics,
        allow_auto_topic_creation=create if version >= 4 else True,
        include_topic_authorized_operations=operations,
        include_cluster_authorized_operations=operations and 8 <= version <= 10,
    )
    return admin.ask(request, version, expect=MetadataResponse)


def everything(admin: AdminBroker, version: int = 13) -> list[str | None]:
    request = MetadataRequest(topics=[] if version == 0 else None)
    return [topic.name for topic in admin.ask(request, version, expect=MetadataResponse).topics]


def test_the_only_broker_is_the_one_that_answers_at_its_advertised_address(admin: AdminBroker) -> None:
    response = ask(admin)
    (broker,) = response.brokers
    assert (broker.node_id, broker.host, broker.port, broker.rack) == (1, "broker.example", 19092, None)
    assert (response.cluster_id, response.controller_id) == (CLUSTER_ID, 1)


def test_the_rack_is_told(tmp_path: Path) -> None:
    assert ask(AdminBroker(tmp_path, {"broker.rack": "r1"})).brokers[0].rack == "r1"


@pytest.mark.parametrize("version", range(14))
def test_every_version_describes_a_topic(admin: AdminBroker, version: int) -> None:
    topic_id = admin.create("t", 2)
    (topic,) = ask(admin, "t", version=version).topics
    assert (topic.name, topic.error_code, topic.is_internal) == ("t", 0, False)
    assert topic.topic_id == (topic_id if version >= 10 else bytes(16))
    assert topic.partitions == [
        MetadataResponsePartition(
            partition_index=index,
            leader_id=1,
            leader_epoch=0 if version >= 7 else -1,
            replica_nodes=[1],
            isr_nodes=[1],
        )
        for index in range(2)
    ]


def test_no_list_means_all_topics_and_an_empty_list_means_none(admin: AdminBroker) -> None:
    admin.create("a")
    admin.create("b")
    assert everything(admin) == ["a", "b"]
    assert everything(admin, version=0) == ["a", "b"]
    assert ask(admin).topics == []


def test_a_topic_that_is_named_twice_is_described_once(admin: AdminBroker) -> None:
    admin.create("t")
    assert len(ask(admin, "t", "t").topics) == 1


def test_topics_are_found_by_id(admin: AdminBroker) -> None:
    topic_id = admin.create("t")
    missing, found = ask(admin, ids=(topic_id, b"x" * 16)).topics
    assert (found.name, found.error_code) == ("t", 0)
    assert (missing.name, missing.topic_id, missing.error_code) == (None, b"x" * 16, ErrorCode.UNKNOWN_TOPIC_ID)


@pytest.mark.parametrize("version", [12, 13])
def test_one_id_makes_a_request_one_for_ids_alone(admin: AdminBroker, version: int) -> None:
    topic_id = admin.create("t")
    admin.create("other")
    entries = [("", topic_id), ("other", bytes(16)), (None, bytes(16)), ("new", b"x" * 16)]
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name, topic_id=given) for name, given in entries])
    missing, found = admin.ask(request, version, expect=MetadataResponse).topics
    assert (found.name, found.topic_id, found.error_code) == ("t", topic_id, 0)
    assert (missing.name, missing.topic_id, missing.error_code) == (None, b"x" * 16, ErrorCode.UNKNOWN_TOPIC_ID)
    assert everything(admin) == ["t", "other"]


def test_an_entry_without_id_and_name_is_an_error_of_the_request(admin: AdminBroker) -> None:
    response = ask(admin, "t", ids=(bytes(16),))
    assert [topic.error_code for topic in response.topics] == [ErrorCode.INVALID_REQUEST] * 2
    assert (response.error_code, response.brokers) == (ErrorCode.INVALID_REQUEST, [])


@pytest.mark.parametrize("version", [10, 11])
def test_versions_that_have_ids_but_no_look_up_by_them_refuse_them(admin: AdminBroker, version: int) -> None:
    response = ask(admin, ids=(b"x" * 16,), version=version)
    assert [topic.error_code for topic in response.topics] == [ErrorCode.INVALID_REQUEST]
    assert response.brokers == []


def test_unknown_and_impossible_names(admin: AdminBroker) -> None:
    codes = [topic.error_code for topic in ask(admin, "nope", "bad name", "", create=False).topics]
    assert codes == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]
    assert everything(admin) == []


@pytest.mark.parametrize("version", [0, 3, 4, 13])
def test_asking_creates_a_topic_with_the_brokers_defaults(tmp_path: Path, version: int) -> None:
    admin = AdminBroker(tmp_path, {"num.partitions": "3"})
    (topic,) = ask(admin, "new", version=version, create=True).topics
    assert (topic.error_code, len(topic.partitions)) == (0, 3)
    assert everything(admin) == ["new"]


def test_asking_creates_nothing_where_that_is_switched_off(tmp_path: Path) -> None:
    admin = AdminBroker(tmp_path, {"auto.create.topics.enable": "false"})
    (topic,) = ask(admin, "new", create=True).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert everything(admin) == []


def test_names_that_collide_and_internal_names_are_not_created(admin: AdminBroker) -> None:
    dotted, lined, internal = ask(admin, "a.b", "a_b", "__consumer_offsets", create=True).topics
    assert (dotted.error_code, lined.error_code) == (0, ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert (internal.error_code, internal.is_internal) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True)
    assert everything(admin) == ["a.b"]


def test_authorized_operations_come_on_request(admin: AdminBroker) -> None:
    admin.create("t")
    assert ask(admin, "t").topics[0].topic_authorized_operations == NOT_ASKED
    response = ask(admin, "t", "nope", version=10, operations=True)
    assert [topic.topic_authorized_operations for topic in response.topics] == [ALL_ON_TOPIC, ALL_ON_TOPIC]
    assert response.cluster_authorized_operations == ALL_ON_CLUSTER
    admin.authorizer = Denies(
        (Operation.WRITE, ResourceType.TOPIC, "t"), (Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    )
    response = ask(admin, "t", version=10, operations=True)
    assert response.topics[0].topic_authorized_operations == ALL_ON_TOPIC - (1 << Operation.WRITE)
    assert response.cluster_authorized_operations == ALL_ON_CLUSTER - (1 << Operation.ALTER)


def test_topics_that_one_may_not_see(admin: AdminBroker) -> None:
    seen, hidden = admin.create("seen"), admin.create("hidden")
    admin.authorizer = Denies(
        (Operation.DESCRIBE, ResourceType.TOPIC, "hidden"), (Operation.DESCRIBE, ResourceType.TOPIC, "nope")
    )
    assert everything(admin) == ["seen"]
    named = ask(admin, "seen", "hidden", "nope", create=True).topics
    assert [(topic.name, topic.error_code) for topic in named] == [
        ("seen", 0),
        ("hidden", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("nope", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ]
    by_id = ask(admin, ids=(seen, hidden)).topics
    assert [(topic.name, topic.error_code) for topic in by_id] == [
        ("seen", 0),
        (None, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
    ]


def test_creating_takes_permission_on_the_cluster_or_on_the_topic(admin: AdminBroker) -> None:
    cluster = (Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
    admin.authorizer = Denies(cluster, (Operation.CREATE, ResourceType.TOPIC, "b"))
    a, b = ask(admin, "a", "b", create=True).topics
    assert (a.error_code, b.error_code) == (0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
