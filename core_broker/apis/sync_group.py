"""SyncGroup (key 14), versions 0 to 5. v3 static members; v4 flexible; v5 protocol type and name, which must be the group's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from core_broker.context import RequestContext
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

PROTOCOL_VERSION: Final = 5


def handle(
    broker: Broker, context: RequestContext, request: SyncGroupRequest
) -> SyncGroupResponse | Deferred[SyncGroupResponse]:
    try:
        if not broker.authorizer.allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        if context.version >= PROTOCOL_VERSION and None in (request.protocol_type, request.protocol_name):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "a member has to say which protocol it uses")
        deferred: Deferred[SyncGroupResponse] = Deferred()
        broker.groups.shard_of(request.group_id).state.classic.sync(request, deferred.resolve)
    except KafkaError as error:
        return SyncGroupResponse(error_code=error.code)
    return deferred
