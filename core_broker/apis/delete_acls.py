"""DeleteAcls (key 31), versions 1 to 3. v2 flexible; v3 users as resources. There are no access lists, and the answer says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse
from core_broker.apis.describe_acls import NO_AUTHORIZER
from core_broker.context import RequestContext
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(broker: Broker, context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    allowed = broker.authorizer.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    code = ErrorCode.SECURITY_DISABLED if allowed else ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    message = NO_AUTHORIZER if allowed else code.message
    return DeleteAclsResponse(
        filter_results=[DeleteAclsFilterResult(error_code=code, error_message=message) for _ in request.filters]
    )
