"""DescribeGroups (key 15), versions 0 to 6: the state and the members of classic groups.

v3 operations that the client may perform; v4 static members; v5 flexible; v6 an unknown group is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from core_broker.apis.authorized_operations import group_operations
from core_broker.context import RequestContext
from core_broker.coordinators.groups.classic_group import ClassicGroup
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker

NOT_FOUND_VERSION: Final = 6
DEAD: Final = "Dead"


def handle(broker: Broker, context: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    groups = []
    for group_id in request.groups:
        try:
            described = _describe(broker, context, group_id)
        except KafkaError as error:
            described = DescribedGroup(group_id=group_id, error_code=error.code)
        if request.include_authorized_operations and described.error_code == ErrorCode.NONE:
            described.authorized_operations = group_operations(broker, context, group_id)
        groups.append(described)
    return DescribeGroupsResponse(groups=groups)


def _describe(broker: Broker, context: RequestContext, group_id: str) -> DescribedGroup:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.GROUP, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    group = broker.groups.lookup(group_id).state.groups.get(group_id)
    if isinstance(group, ClassicGroup):
        return group.described()
    unknown = DescribedGroup(group_id=group_id, group_state=DEAD)
    if context.version >= NOT_FOUND_VERSION:
        unknown.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        unknown.error_message = (
            f"there is no group {group_id}"
            if group is None
            else f"group {group_id} is not a classic group; it is a {group.type.value} group"
        )
    return unknown
