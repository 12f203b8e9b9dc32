"""ConsumerGroupHeartbeat (key 68), versions 0 and 1: a member joins, stays in or leaves a group of the consumer protocol (KIP-848).

v1 subscriptions by regular expression, and member ids that clients make themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from core_broker.context import RequestContext
from core_broker.coordinators.groups.consumer_member import JOINING_EPOCH, LEAVING_EPOCH, STATIC_LEAVING_EPOCH
from core_broker.coordinators.groups.consumer_protocol import NOT_GIVEN, refusal
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

OWN_MEMBER_ID_VERSION: Final = 1
SUBSCRIPTION_MAX_CHARACTERS: Final = 1 << 20
"""Of all topic names together. A record of it would not fit into the log anyhow, and nothing is computed for it."""


def handle(
    broker: Broker, context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | Deferred[ConsumerGroupHeartbeatResponse]:
    try:
        broker.groups.consumers.check_enabled()
        _authorize(broker, context, request)
        check(request, context.version, broker.groups.consumers.settings_of(request.group_id).assignors)
        consumers = broker.groups.lookup(request.group_id).state.consumers
        assert consumers is not None, "the coordinator's shards serve consumers"
        deferred: Deferred[ConsumerGroupHeartbeatResponse] = Deferred()
        consumers.protocol.heartbeat(context, request, deferred.resolve)
    except KafkaError as error:
        return refusal(error)
    return deferred


def _authorize(broker: Broker, context: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    allows = broker.authorizer.allows
    if not allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    for topic in request.subscribed_topic_names or ():
        if not allows(context, Operation.DESCRIBE, ResourceType.TOPIC, topic):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: tuple[str, ...]) -> None:
    """What is wrong with a request whatever the group; KafkaError says it."""
    epoch = request.member_epoch
    if version >= OWN_MEMBER_ID_VERSION or epoch > JOINING_EPOCH or epoch == LEAVING_EPOCH:
        _check_not_empty("MemberId", request.member_id)
    _check_not_empty("GroupId", request.group_id)
    _check_not_empty("InstanceId", request.instance_id)
    _check_not_empty("RackId", request.rack_id)
    if epoch == JOINING_EPOCH:
        _check_join(request)
    elif epoch == STATIC_LEAVING_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVING_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    if sum(map(len, request.subscribed_topic_names or ())) > SUBSCRIPTION_MAX_CHARACTERS:
        raise KafkaError(
            ErrorCode.UNKNOWN_SERVER_ERROR,
            f"the names of the subscribed topics have more than {SUBSCRIPTION_MAX_CHARACTERS} characters: use a pattern",
        )
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}.",
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == NOT_GIVEN:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")


def _check_not_empty(name: str, value: str | None) -> None:
    if value is not None and not value.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
