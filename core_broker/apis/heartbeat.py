"""Heartbeat (key 12), versions 0 to 4. v3 static members; v4 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from core_broker.context import RequestContext
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    try:
        if not broker.authorizer.allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        error = broker.groups.shard_of(request.group_id).state.classic.heartbeat(request)
    except KafkaError as problem:
        # While groups are loaded nobody knows better, and a member that is told of no trouble stays.
        loading = problem.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return HeartbeatResponse(error_code=ErrorCode.NONE if loading else problem.code)
    return HeartbeatResponse(error_code=error)
