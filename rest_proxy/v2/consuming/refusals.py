"""What the paths of consumer instances refuse, with the codes and words that clients know."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http.errors import HttpError
from rest_proxy.problems import (
    BAD_REQUEST,
    KAFKA_BAD_REQUEST,
    NOT_ACCEPTABLE,
    NOT_FOUND,
    PARTITION_NOT_FOUND,
    SERVICE_UNAVAILABLE,
    TOPIC_NOT_FOUND,
    UNPROCESSABLE,
)
from rest_proxy.v2.consuming.partition import Partition

CONFLICT: Final = 409

INSTANCE_NOT_FOUND: Final = 40403
FORMAT_MISMATCH: Final = 40601
INSTANCE_EXISTS: Final = 40902
ILLEGAL_STATE: Final = 40903
BROKEN_CONSTRAINT: Final = 40001
INVALID_SETTING: Final = 42204

RETRY_AFTER_S: Final = "10"


def instance_not_found() -> HttpError:
    return HttpError(NOT_FOUND, "Consumer instance not found.", code=INSTANCE_NOT_FOUND)


def instance_exists() -> HttpError:
    return HttpError(
        CONFLICT,
        "Consumer with specified consumer ID already exists in the specified consumer group.",
        code=INSTANCE_EXISTS,
    )


def too_many_instances(limit: int) -> HttpError:
    return HttpError(
        SERVICE_UNAVAILABLE,
        f"{limit} consumer instances are open, as many as consumer.instances.max allows; "
        "delete those that are done, or wait until idle ones expire",
        headers={"retry-after": RETRY_AFTER_S},
    )


def format_mismatch() -> HttpError:
    return HttpError(
        NOT_ACCEPTABLE,
        "The requested embedded data format does not match the deserializer for this consumer instance",
        code=FORMAT_MISMATCH,
    )


def illegal_state(reason: str) -> HttpError:
    return HttpError(CONFLICT, f"Illegal state: {reason}", code=ILLEGAL_STATE)


def mutually_exclusive() -> HttpError:
    return illegal_state("Subscription to topics, partitions and pattern are mutually exclusive")


def not_subscribed() -> HttpError:
    return illegal_state("Consumer is not subscribed to any topics or assigned any partitions")


def not_assigned(partition: Partition) -> HttpError:
    return illegal_state(f"No current assignment for partition {partition}")


def topic_not_found() -> HttpError:
    return HttpError(NOT_FOUND, "Topic not found.", code=TOPIC_NOT_FOUND)


def partition_not_found() -> HttpError:
    return HttpError(NOT_FOUND, "Partition not found.", code=PARTITION_NOT_FOUND)


def invalid_topics(names: list[str]) -> HttpError:
    return HttpError(BAD_REQUEST, f"Invalid topics: [{', '.join(names)}]", code=KAFKA_BAD_REQUEST)


def invalid_setting(reason: str) -> HttpError:
    return HttpError(UNPROCESSABLE, f"Invalid consumer configuration: {reason}", code=INVALID_SETTING)


def broken_constraint(reason: str) -> HttpError:
    return HttpError(
        UNPROCESSABLE,
        f"Invalid consumer configuration. It does not abide by the constraints: {reason}",
        code=BROKEN_CONSTRAINT,
    )


def mistyped(reason: str) -> HttpError:
    """A value of another kind than its place asks for."""
    return HttpError(BAD_REQUEST, reason)


def invalid(reason: str) -> HttpError:
    """A value of the right kind that is not allowed, or none where one must be."""
    return HttpError(UNPROCESSABLE, reason)
