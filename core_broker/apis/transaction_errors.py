"""The coordinator's errors as the versions of each API can tell them."""

from __future__ import annotations

from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError

JOINING_VERSION: Final = 12
"""Of Produce: newer clients know that the transaction before may still be ending."""

_RETRIED: Final = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)


def told(error: KafkaError, version: int, fenced_version: int) -> ErrorCode:
    """PRODUCER_FENCED only from the version on whose clients know it."""
    if error.code is ErrorCode.PRODUCER_FENCED and version < fenced_version:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error.code


def produce_error(error: KafkaError, version: int) -> KafkaError:
    """What a producer can do something with: it aborts when it is fenced, and sends again what could not be checked."""
    if error.code is ErrorCode.PRODUCER_FENCED:
        return KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH, error.message)
    if error.code in _RETRIED or (error.code is ErrorCode.CONCURRENT_TRANSACTIONS and version < JOINING_VERSION):
        return KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"the transaction could not be checked ({error.code.name}): {error.message}",
        )
    return error
