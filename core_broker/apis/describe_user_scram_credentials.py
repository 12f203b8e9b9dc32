"""DescribeUserScramCredentials (key 50), version 0: which users have credentials, never what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from core_broker.context import RequestContext
from core_broker.metadata.topics import repeated
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


def handle(
    broker: Broker, context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    if not broker.authorizer.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return DescribeUserScramCredentialsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    credentials: dict[str, list[CredentialInfo]] = {}
    for key, credential in broker.metadata.image.scram_credentials.items():
        info = CredentialInfo(mechanism=key.mechanism, iterations=credential.iterations)
        credentials.setdefault(key.user, []).append(info)
    asked = [user.name for user in request.users or ()]
    twice = repeated(asked)
    results = []
    for user in sorted(set(asked) or credentials):
        result = DescribeUserScramCredentialsResult(user=user, credential_infos=credentials.get(user, []))
        if user in twice:
            result.error_code = ErrorCode.DUPLICATE_RESOURCE
            result.error_message = f"user {user!r} is named more than once"
            result.credential_infos = []
        elif user not in credentials:
            result.error_code = ErrorCode.RESOURCE_NOT_FOUND
            result.error_message = f"user {user!r} has no SCRAM credential"
        results.append(result)
    return DescribeUserScramCredentialsResponse(results=results)
