"""LeaveGroup (key 13), versions 0 to 5. v3 several members, static ones by their instance id; v4 flexible; v5 reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from core_broker.context import RequestContext
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

SEVERAL_MEMBERS_VERSION: Final = 3


def handle(
    broker: Broker, context: RequestContext, request: LeaveGroupRequest
) -> LeaveGroupResponse | Deferred[LeaveGroupResponse]:
    several = context.version >= SEVERAL_MEMBERS_VERSION
    leaving = request.members if several else [MemberIdentity(member_id=request.member_id)]
    deferred: Deferred[LeaveGroupResponse] = Deferred()

    def answer(response: LeaveGroupResponse) -> None:
        if not several and response.members:
            response.error_code = response.members[0].error_code
        deferred.resolve(response)

    try:
        if not broker.authorizer.allows(context, Operation.READ, ResourceType.GROUP, request.group_id):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        state = broker.groups.shard_of(request.group_id).state
    except KafkaError as error:
        return LeaveGroupResponse(error_code=error.code)
    state.classic.leave(request.group_id, leaving, answer)
    return deferred
