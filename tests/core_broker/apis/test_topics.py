"""CreateTopics, CreatePartitions and DeleteTopics: what handlers add to the rules."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from core_broker.log.disk import Disk
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import AdminBroker, Denies


class FullDisk(Disk):
    full = False

    def fdatasync(self, descriptor: int) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().fdatasync(descriptor)


def create(admin: AdminBroker, *names: str, version: int = 7, validate_only: bool = False) -> CreateTopicsResponse:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    request = CreateTopicsRequest(topics=topics, validate_only=validate_only)
    return admin.ask(request, version, expect=CreateTopicsResponse)


def codes(response: CreateTopicsResponse) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in response.topics}


@pytest.mark.parametrize("version", range(2, 8))
def test_every_version_creates(admin: AdminBroker, version: int) -> None:
    (result,) = create(admin, "t", version=version).topics
    assert (result.name, result.error_code, result.error_message) == ("t", 0, None)
    assert result.num_partitions == (1 if version >= 5 else -1)
    assert bool(result.configs) == (version >= 5)
    assert (result.topic_id == admin.metadata.image.topics["t"].topic_id) == (version >= 7)


def test_a_name_that_comes_twice_is_refused_once(admin: AdminBroker) -> None:
    assert codes(create(admin, "a", "b", "a")) == {"a": ErrorCode.INVALID_REQUEST, "b": 0}
    assert set(admin.metadata.image.topics) == {"b"}


def test_validation_alone_creates_nothing(admin: AdminBroker) -> None:
    assert codes(create(admin, "t", "", validate_only=True)) == {"t": 0, "": ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert not admin.metadata.image.topics


def test_creating_takes_permission(admin: AdminBroker) -> None:
    cluster = (Operation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
    admin.authorizer = Denies(cluster, (Operation.CREATE, ResourceType.TOPIC, "b"))
    assert codes(create(admin, "a", "b")) == {"a": 0, "b": ErrorCode.TOPIC_AUTHORIZATION_FAILED}


def test_the_configuration_is_shown_to_those_who_may_see_it(admin: AdminBroker) -> None:
    admin.authorizer = Denies((Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, "t"))
    (result,) = create(admin, "t").topics
    assert (result.error_code, result.topic_config_error_code) == (0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert (result.num_partitions, result.replication_factor, result.configs) == (-1, -1, [])


def test_a_full_disk_fails_what_would_have_succeeded(tmp_path: Path) -> None:
    disk = FullDisk()
    admin = AdminBroker(tmp_path, disk=disk)
    admin.create("old")
    disk.full = True
    storage = ErrorCode.KAFKA_STORAGE_ERROR
    assert codes(create(admin, "new", "old")) == {"new": storage, "old": ErrorCode.TOPIC_ALREADY_EXISTS}
    assert grow(admin, ("old", 2)) == {"old": storage}
    assert delete(admin, "old", "nope") == {"old": storage, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    disk.full = False
    assert set(admin.metadata.image.topics) == {"old"}
    assert codes(create(admin, "new")) == {"new": 0}


def grow(admin: AdminBroker, *topics: tuple[str, int], version: int = 3, validate_only: bool = False) -> dict[str, int]:
    asked = [CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in topics]
    request = CreatePartitionsRequest(topics=asked, validate_only=validate_only)
    response = admin.ask(request, version, expect=CreatePartitionsResponse)
    return {result.name: result.error_code for result in response.results}


@pytest.mark.parametrize("version", range(4))
def test_every_version_adds_partitions(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    assert grow(admin, ("t", 3), ("nope", 2), version=version) == {"t": 0, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(admin.metadata.image.topics["t"].partitions) == 3


def test_partitions_are_not_added_for_a_name_that_comes_twice_nor_by_validation_alone(admin: AdminBroker) -> None:
    admin.create("t")
    assert grow(admin, ("t", 3), ("t", 4)) == {"t": ErrorCode.INVALID_REQUEST}
    assert grow(admin, ("t", 3), validate_only=True) == {"t": 0}
    admin.authorizer = Denies((Operation.ALTER, ResourceType.TOPIC, "t"))
    assert grow(admin, ("t", 3)) == {"t": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    assert len(admin.metadata.image.topics["t"].partitions) == 1


def delete(admin: AdminBroker, *names: str, version: int = 6, ids: tuple[bytes, ...] = ()) -> dict[str | bytes, int]:
    if version >= 6:
        topics = [DeleteTopicState(name=name) for name in names]
        topics += [DeleteTopicState(name=None, topic_id=topic_id) for topic_id in ids]
        request = DeleteTopicsRequest(topics=topics)
    else:
        request = DeleteTopicsRequest(topic_names=list(names))
    response = admin.ask(request, version, expect=DeleteTopicsResponse)
    return {result.topic_id if result.name is None else result.name: result.error_code for result in response.responses}


@pytest.mark.parametrize("version", range(1, 7))
def test_every_version_deletes(admin: AdminBroker, version: int) -> None:
    admin.create("t")
    admin.create("u")
    found = delete(admin, "t", "nope", version=version)
    assert found == {"t": 0, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert set(admin.metadata.image.topics) == {"u"}


def test_topics_are_deleted_by_id(admin: AdminBroker) -> None:
    topic_id = admin.create("t")
    assert delete(admin, ids=(topic_id, b"x" * 16)) == {"t": 0, b"x" * 16: ErrorCode.UNKNOWN_TOPIC_ID}
    assert not admin.metadata.image.topics


def test_a_topic_that_is_named_twice_is_not_deleted(admin: AdminBroker) -> None:
    topic_id = admin.create("t")
    assert delete(admin, "t", "t") == {"t": ErrorCode.INVALID_REQUEST}
    assert delete(admin, "t", ids=(topic_id,)) == {"t": ErrorCode.INVALID_REQUEST}
    assert delete(admin, ids=(topic_id, topic_id)) == {topic_id: ErrorCode.INVALID_REQUEST}
    assert delete(admin, ids=(b"x" * 16, b"x" * 16)) == {b"x" * 16: ErrorCode.INVALID_REQUEST}
    assert set(admin.metadata.image.topics) == {"t"}


def test_deleting_takes_permission_and_an_id_does_not_give_the_name_away(admin: AdminBroker) -> None:
    topic_id = admin.create("t")
    admin.authorizer = Denies(
        (Operation.DELETE, ResourceType.TOPIC, "t"), (Operation.DELETE, ResourceType.TOPIC, "nope")
    )
    forbidden = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert delete(admin, "t", "nope") == {"t": forbidden, "nope": forbidden}
    admin.authorizer = Denies((Operation.DESCRIBE, ResourceType.TOPIC, "t"))
    assert delete(admin, ids=(topic_id,)) == {topic_id: forbidden}
    assert set(admin.metadata.image.topics) == {"t"}


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED), (6, ErrorCode.TOPIC_DELETION_DISABLED)],
)
def test_deletion_can_be_switched_off(tmp_path: Path, version: int, code: ErrorCode) -> None:
    admin = AdminBroker(tmp_path, {"delete.topic.enable": "false"})
    admin.create("t")
    assert delete(admin, "t", version=version) == {"t": code}
    assert set(admin.metadata.image.topics) == {"t"}
