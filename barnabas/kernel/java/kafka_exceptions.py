"""What an error is called and says where Kafka's tools print a Java exception: scripts look for these names and words."""

from __future__ import annotations

from typing import Final

from barnabas.wire.errors import ErrorCode, KafkaError

PACKAGE: Final = "org.apache.kafka.common.errors."

# Most classes are named like their code: UNKNOWN_TOPIC_ID is an UnknownTopicIdException. These are not.
_IRREGULAR: Final = {
    "UNKNOWN_SERVER_ERROR": "UnknownServerException",
    "CORRUPT_MESSAGE": "CorruptRecordException",
    "REQUEST_TIMED_OUT": "TimeoutException",
    "MESSAGE_TOO_LARGE": "RecordTooLargeException",
    "STALE_CONTROLLER_EPOCH": "ControllerMovedException",
    "OFFSET_METADATA_TOO_LARGE": "OffsetMetadataTooLarge",
    "NETWORK_EXCEPTION": "NetworkException",
    "INVALID_TOPIC_EXCEPTION": "InvalidTopicException",
    "RECORD_LIST_TOO_LARGE": "RecordBatchTooLargeException",
    "TOPIC_ALREADY_EXISTS": "TopicExistsException",
    "INVALID_CONFIG": "InvalidConfigurationException",
    "DUPLICATE_SEQUENCE_NUMBER": "DuplicateSequenceException",
    "INVALID_TRANSACTION_TIMEOUT": "InvalidTxnTimeoutException",
    "INVALID_PRODUCER_ID_MAPPING": "InvalidPidMappingException",
    "OUT_OF_ORDER_SEQUENCE_NUMBER": "OutOfOrderSequenceException",
    "NON_EMPTY_GROUP": "GroupNotEmptyException",
    "TOPIC_AUTHORIZATION_FAILED": "TopicAuthorizationException",
    "GROUP_AUTHORIZATION_FAILED": "GroupAuthorizationException",
    "CLUSTER_AUTHORIZATION_FAILED": "ClusterAuthorizationException",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "TransactionalIdAuthorizationException",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED": "DelegationTokenAuthorizationException",
    "DELEGATION_TOKEN_AUTH_DISABLED": "DelegationTokenDisabledException",
    "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": "UnsupportedByAuthenticationException",
    "SASL_AUTHENTICATION_FAILED": "SaslAuthenticationException",
    "KAFKA_STORAGE_ERROR": "KafkaStorageException",
    "PRINCIPAL_DESERIALIZATION_FAILURE": "PrincipalDeserializationException",
    "FETCH_SESSION_TOPIC_ID_ERROR": "FetchSessionTopicIdException",
    "INVALID_REGULAR_EXPRESSION": "InvalidRegularExpression",
}
# What Java's client says when a broker gives a code without words.
_WORDS: Final = {
    "UNKNOWN_TOPIC_OR_PARTITION": "This server does not host this topic-partition.",
    "UNKNOWN_TOPIC_ID": "This server does not host this topic ID.",
    "UNKNOWN_SERVER_ERROR": "The server experienced an unexpected error when processing the request.",
    "GROUP_ID_NOT_FOUND": "The group id does not exist.",
    "NON_EMPTY_GROUP": "The group is not empty.",
    "CLUSTER_AUTHORIZATION_FAILED": "Cluster authorization failed.",
    "TOPIC_AUTHORIZATION_FAILED": "Topic authorization failed.",
    "GROUP_AUTHORIZATION_FAILED": "Group authorization failed.",
    "OFFSET_OUT_OF_RANGE": "The requested offset is not within the range of offsets maintained by the server.",
    "LEADER_NOT_AVAILABLE": "There is no leader for this topic-partition as we are in the middle of a leadership election.",
    "NO_REASSIGNMENT_IN_PROGRESS": "No partition reassignment is in progress.",
    "ELECTION_NOT_NEEDED": "Leader election not needed for topic partition.",
    "PREFERRED_LEADER_NOT_AVAILABLE": "The preferred leader was not available.",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE": "Eligible topic partition leaders are not available.",
    "INVALID_TOPIC_EXCEPTION": "The request attempted to perform an operation on an invalid topic.",
    "TRANSACTIONAL_ID_NOT_FOUND": "The transactionalId could not be found.",
    "GROUP_SUBSCRIBED_TO_TOPIC": "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    "UNSUPPORTED_VERSION": "The version of API is not supported.",
}


def class_name(code: ErrorCode) -> str:
    """The Java exception of a code, with its package."""
    regular = "".join(word.capitalize() for word in code.name.split("_")) + "Exception"
    return PACKAGE + _IRREGULAR.get(code.name, regular)


def message_of(error: KafkaError) -> str:
    """What `getMessage` of the Java exception returns: the broker's words, or Java's for the code."""
    return error.message if error.message != error.code.message else _WORDS.get(error.code.name, error.message)


def described(error: KafkaError) -> str:
    """As `toString` of the Java exception."""
    return f"{class_name(error.code)}: {message_of(error)}"


def error_of(code: int, message: str | None) -> KafkaError:
    """The error of a code in a response, with the broker's words if there are any."""
    return KafkaError(ErrorCode(code), message or "")
