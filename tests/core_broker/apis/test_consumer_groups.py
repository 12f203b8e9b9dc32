"""Groups of the consumer protocol on a running broker: settings that act, and what is there after kill -9."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from barnabas.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from tests.broker import BarnabasBroker
from tests.core_broker.coordinators.groups.dialogue import Side
from tests.waiting import wait_for

GROUP = "g"
BY_NAME_VERSION = 9


def join(side: Side, member_id: str = "m", **fields: object) -> ConsumerGroupHeartbeatResponse:
    request = ConsumerGroupHeartbeatRequest(
        group_id=GROUP,
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
        **fields,  # type: ignore[arg-type]  # each test knows the fields that it sets
    )
    return side.ask(request, ConsumerGroupHeartbeatResponse)


def ready(broker: BarnabasBroker) -> Side:
    side = Side(broker.address)
    side.create({"t": 3})
    side.coordinate(GROUP)
    return side


def described(side: Side) -> object:
    asked = ConsumerGroupDescribeRequest(group_ids=[GROUP], include_authorized_operations=True)
    return side.plain(side.ask(asked, ConsumerGroupDescribeResponse))


def commit(side: Side, epoch: int) -> int:
    partition = OffsetCommitRequestPartition(partition_index=1, committed_offset=7, committed_metadata="note")
    request = OffsetCommitRequest(
        group_id=GROUP,
        member_id="m",
        generation_id_or_member_epoch=epoch,
        topics=[OffsetCommitRequestTopic(name="t", partitions=[partition])],
    )
    (topic,) = side.ask(request, OffsetCommitResponse, BY_NAME_VERSION).topics
    return topic.partitions[0].error_code


def fetch(side: Side, epoch: int) -> tuple[int, int]:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[1])]
    asked = OffsetFetchRequestGroup(group_id=GROUP, member_id="m", member_epoch=epoch, topics=topics)
    (group,) = side.ask(OffsetFetchRequest(groups=[asked]), OffsetFetchResponse, BY_NAME_VERSION).groups
    return group.error_code, group.topics[0].partitions[0].committed_offset if group.topics else -1


def test_a_group_is_there_after_kill_minus_9(start_broker: Callable[..., BarnabasBroker]) -> None:
    broker = start_broker()
    side = ready(broker)
    joined = join(side)
    assert joined.error_code == ErrorCode.NONE
    assert joined.assignment is not None
    assert commit(side, joined.member_epoch) == ErrorCode.NONE
    before = described(side)
    broker.kill()
    broker.start()

    def loaded() -> bool:
        return fetch(side, joined.member_epoch)[0] != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    wait_for(loaded, "the group to be loaded")
    assert described(side) == before
    assert fetch(side, joined.member_epoch) == (ErrorCode.NONE, 7)
    assert fetch(side, joined.member_epoch + 1)[0] == ErrorCode.STALE_MEMBER_EPOCH
    assert commit(side, joined.member_epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH
    owned = [
        TopicPartitions(topic_id=topic.topic_id, partitions=topic.partitions)
        for topic in joined.assignment.topic_partitions
    ]
    beat = ConsumerGroupHeartbeatRequest(
        group_id=GROUP, member_id="m", member_epoch=joined.member_epoch, topic_partitions=owned
    )
    answer = side.ask(beat, ConsumerGroupHeartbeatResponse)
    assert (answer.error_code, answer.member_epoch) == (ErrorCode.NONE, joined.member_epoch)


def test_settings_of_the_broker_and_of_a_group_act(start_broker: Callable[..., BarnabasBroker]) -> None:
    broker = start_broker(
        group_consumer_max_size=1,
        group_consumer_heartbeat_interval_ms=6000,
        group_consumer_assignors="range",
        group_consumer_min_session_timeout_ms=1000,
    )
    side = ready(broker)
    assert join(side).heartbeat_interval_ms == 6000
    assert join(side, "other").error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert join(side, server_assignor="uniform").error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    side.configure_group(GROUP, {"consumer.heartbeat.interval.ms": "7000", "consumer.session.timeout.ms": "8000"})
    assert join(side).heartbeat_interval_ms == 7000
    side.configure_group(GROUP, {"consumer.session.timeout.ms": "1000"})
    join(side)
    wait_for(lambda: join(side, "other").error_code == ErrorCode.NONE, "the silent member to be removed")


def test_the_feature_and_the_protocols_switch_it_off(start_broker: Callable[..., BarnabasBroker]) -> None:
    side = ready(start_broker())

    def set_level(level: int, upgrade_type: int) -> None:
        update = FeatureUpdateKey(feature="group.version", max_version_level=level, upgrade_type=upgrade_type)
        answer = side.ask(UpdateFeaturesRequest(feature_updates=[update]), UpdateFeaturesResponse)
        assert answer.error_code == ErrorCode.NONE

    set_level(0, 2)
    assert join(side).error_code == ErrorCode.UNSUPPORTED_VERSION
    asked = ConsumerGroupDescribeRequest(group_ids=[GROUP])
    (group,) = side.ask(asked, ConsumerGroupDescribeResponse).groups
    assert group.error_code == ErrorCode.UNSUPPORTED_VERSION
    set_level(1, 1)
    assert join(side).error_code == ErrorCode.NONE
