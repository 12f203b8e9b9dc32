"""The one place where failures become HTTP statuses and Confluent's error codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from barnabas.kernel.http.errors import HttpError
from rest_proxy.formats.failure import (
    FormatFailure,
    InvalidData,
    InvalidSchema,
    RegistryUnavailable,
    SchemaForbidden,
    SchemaRefused,
    Undecodable,
)
from rest_proxy.kafka.failure import KafkaFailure

RETRY_AFTER_S: Final = "1"

BAD_REQUEST: Final = 400
UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
NOT_ACCEPTABLE: Final = 406
REQUEST_TIMEOUT: Final = 408
CONTENT_TOO_LARGE: Final = 413
UNSUPPORTED_MEDIA_TYPE: Final = 415
UNPROCESSABLE: Final = 422
TOO_MANY_REQUESTS: Final = 429
INTERNAL_ERROR: Final = 500
SERVICE_UNAVAILABLE: Final = 503

KAFKA_BAD_REQUEST: Final = 40002
AUTHENTICATION_FAILED: Final = 40101
AUTHORIZATION_FAILED: Final = 40301
TOPIC_NOT_FOUND: Final = 40401
PARTITION_NOT_FOUND: Final = 40402
OFFSET_OUT_OF_RANGE: Final = 40002
UNKNOWN_TOPIC_OR_PARTITION: Final = 40403
GROUP_NOT_FOUND: Final = 40405
SERIALIZATION_FAILED: Final = 40801
KEY_SCHEMA_MISSING: Final = 42201
VALUE_SCHEMA_MISSING: Final = 42202
INVALID_SCHEMA: Final = 42205
SERIALIZATION_REFUSED: Final = 42207
QUOTA_EXCEEDED: Final = 42901
KAFKA_ERROR: Final = 50002
KAFKA_RETRIABLE_ERROR: Final = 50003
BROKER_NOT_AVAILABLE: Final = 50302


class _Meaning(NamedTuple):
    status: int
    code: int
    message: str | None = None
    """What clients are told instead of librdkafka's words."""


_UNKNOWN_TOPIC: Final = _Meaning(
    NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
)
_REFUSED: Final = _Meaning(BAD_REQUEST, KAFKA_BAD_REQUEST)
_UNAUTHENTICATED: Final = _Meaning(UNAUTHORIZED, AUTHENTICATION_FAILED)
_UNAUTHORIZED: Final = _Meaning(FORBIDDEN, AUTHORIZATION_FAILED)
_RETRIABLE: Final = _Meaning(INTERNAL_ERROR, KAFKA_RETRIABLE_ERROR)
_UNREACHABLE: Final = _Meaning(SERVICE_UNAVAILABLE, KAFKA_RETRIABLE_ERROR)
_OTHER: Final = _Meaning(INTERNAL_ERROR, KAFKA_ERROR)

# By Kafka's names: librdkafka's own errors, which begin with an underscore, are those of the way to the cluster.
_MEANINGS: Final[dict[str, _Meaning]] = {
    "BROKER_NOT_AVAILABLE": _Meaning(SERVICE_UNAVAILABLE, BROKER_NOT_AVAILABLE),
    "MSG_SIZE_TOO_LARGE": _Meaning(CONTENT_TOO_LARGE, CONTENT_TOO_LARGE),
    "RECORD_LIST_TOO_LARGE": _Meaning(CONTENT_TOO_LARGE, CONTENT_TOO_LARGE),
    "THROTTLING_QUOTA_EXCEEDED": _Meaning(TOO_MANY_REQUESTS, QUOTA_EXCEEDED),
    "GROUP_ID_NOT_FOUND": _Meaning(NOT_FOUND, GROUP_NOT_FOUND, "Consumer group id not found."),
    "_UNKNOWN_TOPIC": _Meaning(NOT_FOUND, TOPIC_NOT_FOUND, "Topic not found."),
    "_UNKNOWN_PARTITION": _Meaning(NOT_FOUND, PARTITION_NOT_FOUND, "Partition not found."),
    **dict.fromkeys(("UNKNOWN_TOPIC_OR_PART", "UNKNOWN_TOPIC_ID"), _UNKNOWN_TOPIC),
    **dict.fromkeys(
        (
            "INVALID_CONFIG",
            "INVALID_PARTITIONS",
            "INVALID_REPLICATION_FACTOR",
            "INVALID_REPLICA_ASSIGNMENT",
            "INVALID_REQUEST",
            "POLICY_VIOLATION",
            "SECURITY_DISABLED",
            "TOPIC_ALREADY_EXISTS",
            "TOPIC_DELETION_DISABLED",
            "TOPIC_EXCEPTION",
            "UNKNOWN",
            "UNSUPPORTED_VERSION",
            "_INVALID_ARG",
            "_UNSUPPORTED_FEATURE",
        ),
        _REFUSED,
    ),
    **dict.fromkeys(
        ("_AUTHENTICATION", "SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE"),
        _UNAUTHENTICATED,
    ),
    **dict.fromkeys(
        (
            "CLUSTER_AUTHORIZATION_FAILED",
            "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
            "GROUP_AUTHORIZATION_FAILED",
            "TOPIC_AUTHORIZATION_FAILED",
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        ),
        _UNAUTHORIZED,
    ),
    **dict.fromkeys(
        ("_ALL_BROKERS_DOWN", "_MSG_TIMED_OUT", "_RESOLVE", "_TIMED_OUT", "_TIMED_OUT_QUEUE", "_TRANSPORT"),
        _UNREACHABLE,
    ),
    **dict.fromkeys(
        (
            "CONCURRENT_TRANSACTIONS",
            "COORDINATOR_LOAD_IN_PROGRESS",
            "COORDINATOR_NOT_AVAILABLE",
            "ELIGIBLE_LEADERS_NOT_AVAILABLE",
            "FENCED_LEADER_EPOCH",
            "INVALID_MSG",
            "KAFKA_STORAGE_ERROR",
            "LEADER_NOT_AVAILABLE",
            "LISTENER_NOT_FOUND",
            "NETWORK_EXCEPTION",
            "NOT_CONTROLLER",
            "NOT_COORDINATOR",
            "NOT_ENOUGH_REPLICAS",
            "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
            "NOT_LEADER_FOR_PARTITION",
            "OFFSET_NOT_AVAILABLE",
            "PREFERRED_LEADER_NOT_AVAILABLE",
            "REBALANCE_IN_PROGRESS",
            "REPLICA_NOT_AVAILABLE",
            "REQUEST_TIMED_OUT",
            "UNKNOWN_LEADER_EPOCH",
            "UNSTABLE_OFFSET_COMMIT",
            "_PREV_IN_PROGRESS",
            "_QUEUE_FULL",
            "_RETRY",
            "_WAIT_COORD",
        ),
        _RETRIABLE,
    ),
}

_WORTH_ANOTHER_TRY: Final = frozenset(
    {
        _RETRIABLE,
        _UNREACHABLE,
        _UNKNOWN_TOPIC,
        _MEANINGS["_UNKNOWN_TOPIC"],
        _MEANINGS["_UNKNOWN_PARTITION"],
        _MEANINGS["BROKER_NOT_AVAILABLE"],
        _MEANINGS["THROTTLING_QUOTA_EXCEEDED"],
    }
)

_FORMAT_MEANINGS: Final[tuple[tuple[type[FormatFailure], int, int, str], ...]] = (
    (InvalidData, BAD_REQUEST, BAD_REQUEST, "Bad Request: "),
    (InvalidSchema, UNPROCESSABLE, INVALID_SCHEMA, "Invalid schema: "),
    (SchemaRefused, UNPROCESSABLE, SERIALIZATION_REFUSED, "Error serializing message. "),
    (SchemaForbidden, FORBIDDEN, AUTHORIZATION_FAILED, ""),
    (RegistryUnavailable, SERVICE_UNAVAILABLE, SERIALIZATION_FAILED, ""),
    (Undecodable, REQUEST_TIMEOUT, SERIALIZATION_FAILED, ""),
)


def not_acceptable(offered: Iterable[str]) -> HttpError:
    """The refusal of a client that takes none of the types of an answer, with those that there are."""
    return HttpError(NOT_ACCEPTABLE, f"HTTP 406 Not Acceptable: ask for {' or '.join(offered)}")


def unsupported(taken: Iterable[str]) -> HttpError:
    """The refusal of a body of a type that a path does not take, with those that it does."""
    return HttpError(UNSUPPORTED_MEDIA_TYPE, f"HTTP 415 Unsupported Media Type: send {' or '.join(taken)}")


def translate(problem: Exception, brokers: str = "") -> HttpError | None:
    """The answer to a failure of Kafka, of the registry or of the data; None for what is a fault of ours. `brokers` are the addresses
    that are named when none of them answers."""
    if isinstance(problem, KafkaFailure):
        return _of_kafka(problem, brokers)
    if isinstance(problem, FormatFailure):
        return _of_format(problem)
    return None


def raise_unreachable(results: Sequence[object]) -> None:
    """The failure itself when it was the same for all records of a request: no broker was there to take them."""
    failed = [result for result in results[:1] if isinstance(result, KafkaFailure)]
    if failed and all(isinstance(each, KafkaFailure) and _meaning(each) is _UNREACHABLE for each in results):
        raise failed[0]


def raise_topic_not_found(results: Sequence[object]) -> None:
    """The refusal of a request, in v2, when all its records failed since their topic is not there."""
    if results and all(isinstance(each, KafkaFailure) and _meaning(each) is _UNKNOWN_TOPIC for each in results):
        raise HttpError(NOT_FOUND, "Topic not found.", code=TOPIC_NOT_FOUND)


def of_record(failure: KafkaFailure) -> tuple[int, str]:
    """Code and message of a record that failed among others that did not, in v2."""
    found = _meaning(failure)
    if found.code in (AUTHENTICATION_FAILED, AUTHORIZATION_FAILED):
        code = found.code
    else:
        # A topic or partition that is not there may yet be made; Confluent, too, counts them among the retriable.
        code = KAFKA_RETRIABLE_ERROR if found in _WORTH_ANOTHER_TRY else KAFKA_ERROR
    return code, found.message or failure.message


def _meaning(failure: KafkaFailure) -> _Meaning:
    return _MEANINGS.get(failure.name) or (_RETRIABLE if failure.retriable else _OTHER)


def _of_kafka(failure: KafkaFailure, brokers: str) -> HttpError:
    meaning = _meaning(failure)
    message = meaning.message or failure.message
    if meaning.message and failure.about:
        message = f"{message} ({failure.about})"
    if meaning is _UNREACHABLE:
        message = f"Kafka{f' at {brokers}' if brokers else ''} cannot be reached: {message}"
    return HttpError(meaning.status, message, code=meaning.code, headers=_headers(meaning.status))


def _of_format(failure: FormatFailure) -> HttpError | None:
    for kind, status, code, prefix in _FORMAT_MEANINGS:
        if isinstance(failure, kind):
            return HttpError(status, f"{prefix}{failure.message}", code=code, headers=_headers(status))
    return None


def _headers(status: int) -> dict[str, str]:
    return {"retry-after": RETRY_AFTER_S} if status in (SERVICE_UNAVAILABLE, TOO_MANY_REQUESTS) else {}
