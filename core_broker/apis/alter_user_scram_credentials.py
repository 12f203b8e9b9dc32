"""AlterUserScramCredentials (key 51), version 0: sets and deletes what SCRAM users are checked by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire.struct import Message
from core_broker.context import RequestContext
from core_broker.metadata import scram
from core_broker.metadata.topics import repeated
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from core_broker.broker import Broker


async def handle(
    broker: Broker, context: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    changes: list[ScramCredentialDeletion | ScramCredentialUpsertion] = [*request.deletions, *request.upsertions]
    users = list(dict.fromkeys(change.name for change in changes))
    if not broker.authorizer.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return AlterUserScramCredentialsResponse(results=[_failed(user, KafkaError(code)) for user in users])
    twice = repeated(change.name for change in changes)
    failures: dict[str, KafkaError] = {
        user: KafkaError(ErrorCode.DUPLICATE_RESOURCE, f"user {user!r} is changed more than once in one request")
        for user in twice
    }
    async with broker.metadata.exclusive:
        records: list[Message] = []
        for change in changes:
            if change.name in failures:
                continue
            try:
                if isinstance(change, ScramCredentialDeletion):
                    records.append(scram.delete(broker.metadata.image, change))
                else:
                    records.append(scram.upsert(change))
            except KafkaError as error:
                failures[change.name] = error
        try:
            await broker.apply(records)
        except KafkaError as error:
            failures = {**dict.fromkeys(users, error), **failures}
    return AlterUserScramCredentialsResponse(
        results=[
            _failed(user, failures[user])
            if user in failures
            else AlterUserScramCredentialsResult(user=user, error_message=None)
            for user in users
        ]
    )


def _failed(user: str, error: KafkaError) -> AlterUserScramCredentialsResult:
    return AlterUserScramCredentialsResult(user=user, error_code=error.code, error_message=error.message)
