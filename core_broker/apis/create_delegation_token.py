"""CreateDelegationToken (key 38), versions 1 to 3. v2 flexible; v3 tokens for others.

Tokens belong to authenticated connections. No listener authenticates yet, so that Kafka's answer to an anonymous client is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_delegation_token import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from core_broker.context import RequestContext

if TYPE_CHECKING:
    from core_broker.broker import Broker

NO_TIME: Final = -1


def handle(
    broker: Broker, context: RequestContext, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    requester = context.principal
    return CreateDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
        principal_type=requester.kind,
        principal_name=requester.name,
        token_requester_principal_type=requester.kind if context.version >= 3 else "",
        token_requester_principal_name=requester.name if context.version >= 3 else "",
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
    )
