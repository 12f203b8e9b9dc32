"""DeleteGroups (key 42), versions 0 to 2: empty groups and their offsets. v2 flexible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from core_broker.context import RequestContext
from core_broker.deferred import Deferred
from core_broker.security.authorizer import Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DeleteGroupsRequest) -> Deferred[DeleteGroupsResponse]:
    deferred: Deferred[DeleteGroupsResponse] = Deferred()
    results = [DeletableGroupResult(group_id=group_id) for group_id in dict.fromkeys(request.groups_names)]
    left = len(results) + 1

    def done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            deferred.resolve(DeleteGroupsResponse(results=results))

    def delete(result: DeletableGroupResult) -> None:
        def then(error: KafkaError | None) -> None:
            result.error_code = ErrorCode.NONE if error is None else error.code
            done()

        try:
            if not broker.authorizer.allows(context, Operation.DELETE, ResourceType.GROUP, result.group_id):
                raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
            commits = broker.groups.lookup(result.group_id).state.commits
            commits.delete_group(result.group_id, then)
        except KafkaError as error:
            then(error)

    for result in results:
        delete(result)
    done()
    return deferred
