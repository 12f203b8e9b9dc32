"""ListGroups (key 16), versions 0 to 5. v3 flexible; v4 only groups in some states; v5 only groups of some types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from core_broker.context import RequestContext
from core_broker.coordinators.groups.group import Group
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    if broker.groups.topic.is_loading:
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    allows = broker.authorizer.allows
    sees_all = allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
    states = {state.strip().lower() for state in request.states_filter}
    types = {kind.strip().lower() for kind in request.types_filter}

    def is_wanted(group: Group) -> bool:
        return (
            (not states or group.state_name.lower() in states)
            and (not types or group.type.value in types)
            and (sees_all or allows(context, Operation.DESCRIBE, ResourceType.GROUP, group.group_id))
        )

    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state_name,
                group_type=group.type.value,
            )
            for shard in broker.groups.topic.active()
            for group in shard.state.groups.values()
            if is_wanted(group)
        ]
    )
