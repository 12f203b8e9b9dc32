"""Kafka's error codes, and the exception that carries one through the code to the answer."""

from enum import IntEnum

_RETRY = True
_FINAL = False


class ErrorCode(IntEnum):
    """A code as it travels on the wire, whether clients try again on it, and what it means in one line."""

    retriable: bool
    message: str

    def __new__(cls, code: int, retriable: bool = False, message: str = "") -> "ErrorCode":
        member = int.__new__(cls, code)
        member._value_ = code
        member.retriable = retriable
        member.message = message
        return member

    @classmethod
    def _missing_(cls, value: object) -> "ErrorCode":
        """A code of a newer Kafka: it is an error, and no more is known about it."""
        return cls.UNKNOWN_SERVER_ERROR

    UNKNOWN_SERVER_ERROR = -1, _FINAL, "Something failed inside the broker; its log says what."
    NONE = 0, _FINAL, "No error."
    OFFSET_OUT_OF_RANGE = 1, _FINAL, "The offset lies before the start or behind the end of the partition's log."
    CORRUPT_MESSAGE = 2, _RETRY, "The records are damaged: wrong checksum or size, or no key on a compacted topic."
    UNKNOWN_TOPIC_OR_PARTITION = 3, _RETRY, "This broker has no such topic or partition."
    INVALID_FETCH_SIZE = 4, _FINAL, "The fetch asks for an impossible number of bytes."
    LEADER_NOT_AVAILABLE = 5, _RETRY, "The partition has no leader at the moment."
    NOT_LEADER_OR_FOLLOWER = 6, _RETRY, "This broker is not the replica that the request needs."
    REQUEST_TIMED_OUT = 7, _RETRY, "The request was not finished within its time limit."
    BROKER_NOT_AVAILABLE = 8, _FINAL, "The broker cannot be reached."
    REPLICA_NOT_AVAILABLE = 9, _RETRY, "The wanted replica of the partition is not available."
    MESSAGE_TOO_LARGE = 10, _FINAL, "A record batch is larger than max.message.bytes allows."
    STALE_CONTROLLER_EPOCH = 11, _FINAL, "Another broker has become the controller."
    OFFSET_METADATA_TOO_LARGE = 12, _FINAL, "The text stored with a committed offset is too long."
    NETWORK_EXCEPTION = 13, _RETRY, "The connection closed before the answer came."
    COORDINATOR_LOAD_IN_PROGRESS = 14, _RETRY, "The coordinator is still loading its state."
    COORDINATOR_NOT_AVAILABLE = 15, _RETRY, "No coordinator is available yet."
    NOT_COORDINATOR = 16, _RETRY, "Another broker coordinates this group or transaction."
    INVALID_TOPIC_EXCEPTION = (
        17,
        _FINAL,
        "The topic's name is not allowed, or the operation is not allowed on this topic.",
    )
    RECORD_LIST_TOO_LARGE = 18, _FINAL, "The batches of the request are larger than a log segment."
    NOT_ENOUGH_REPLICAS = (
        19,
        _RETRY,
        "Fewer replicas are in sync than min.insync.replicas asks for; nothing was written.",
    )
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (
        20,
        _RETRY,
        "The records were written, but to fewer in-sync replicas than wanted.",
    )
    INVALID_REQUIRED_ACKS = 21, _FINAL, "acks must be 0, 1 or -1 (all)."
    ILLEGAL_GENERATION = 22, _FINAL, "The group is in another generation than the request says."
    INCONSISTENT_GROUP_PROTOCOL = 23, _FINAL, "The member shares no protocol with the group, or offers none."
    INVALID_GROUP_ID = 24, _FINAL, "The group id is not allowed."
    UNKNOWN_MEMBER_ID = 25, _FINAL, "The group has no such member; join again."
    INVALID_SESSION_TIMEOUT = 26, _FINAL, "The session timeout lies outside the limits that the broker sets for groups."
    REBALANCE_IN_PROGRESS = 27, _FINAL, "The group is rebalancing; join again."
    INVALID_COMMIT_OFFSET_SIZE = 28, _FINAL, "The committed offsets do not fit one record."
    TOPIC_AUTHORIZATION_FAILED = 29, _FINAL, "The user may not do this with the topic."
    GROUP_AUTHORIZATION_FAILED = 30, _FINAL, "The user may not do this with the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, _FINAL, "The user may not do this with the cluster."
    INVALID_TIMESTAMP = 32, _FINAL, "A record's timestamp is further from the broker's clock than the topic allows."
    UNSUPPORTED_SASL_MECHANISM = 33, _FINAL, "The listener does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = 34, _FINAL, "The request does not fit the present step of the SASL exchange."
    UNSUPPORTED_VERSION = 35, _FINAL, "The broker does not serve this version of the API."
    TOPIC_ALREADY_EXISTS = 36, _FINAL, "A topic of this name exists."
    INVALID_PARTITIONS = 37, _FINAL, "The number of partitions is not possible."
    INVALID_REPLICATION_FACTOR = 38, _FINAL, "The replication factor is below 1 or above the number of brokers."
    INVALID_REPLICA_ASSIGNMENT = 39, _FINAL, "The replica assignment is not possible."
    INVALID_CONFIG = 40, _FINAL, "A configuration name or value is not valid."
    NOT_CONTROLLER = 41, _RETRY, "This broker is not the controller."
    INVALID_REQUEST = 42, _FINAL, "The request contradicts itself or the protocol."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, _FINAL, "The record format in use does not support the request."
    POLICY_VIOLATION = 44, _FINAL, "A policy of the cluster forbids the request."
    OUT_OF_ORDER_SEQUENCE_NUMBER = (
        45,
        _FINAL,
        "The batch does not follow the producer's last one: one in between is missing.",
    )
    DUPLICATE_SEQUENCE_NUMBER = 46, _FINAL, "The batch repeats an older one of the same producer."
    INVALID_PRODUCER_EPOCH = 47, _FINAL, "A newer instance of this producer has taken over."
    INVALID_TXN_STATE = 48, _FINAL, "The transaction is not in a state that allows this."
    INVALID_PRODUCER_ID_MAPPING = 49, _FINAL, "The producer id does not belong to this transactional id."
    INVALID_TRANSACTION_TIMEOUT = 50, _FINAL, "The transaction timeout is above transaction.max.timeout.ms."
    CONCURRENT_TRANSACTIONS = 51, _RETRY, "The previous step of this transaction is not finished yet."
    TRANSACTION_COORDINATOR_FENCED = 52, _FINAL, "A newer coordinator has taken over the transaction."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, _FINAL, "The user may not use this transactional id."
    SECURITY_DISABLED = 54, _FINAL, "The broker runs without the security feature that the request needs."
    OPERATION_NOT_ATTEMPTED = 55, _FINAL, "Not tried, since another part of the same request failed."
    KAFKA_STORAGE_ERROR = 56, _RETRY, "The disk refused a read or a write."
    LOG_DIR_NOT_FOUND = 57, _FINAL, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, _FINAL, "The credentials were refused."
    UNKNOWN_PRODUCER_ID = 59, _FINAL, "The broker no longer knows this producer: its records have expired."
    REASSIGNMENT_IN_PROGRESS = 60, _FINAL, "The partition is being moved."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, _FINAL, "Delegation tokens are switched off."
    DELEGATION_TOKEN_NOT_FOUND = 62, _FINAL, "There is no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, _FINAL, "The user neither owns the token nor may renew it."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, _FINAL, "Tokens cannot be managed over a connection of this kind."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, _FINAL, "The user may not do this with the token."
    DELEGATION_TOKEN_EXPIRED = 66, _FINAL, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, _FINAL, "Principals of this type are not supported."
    NON_EMPTY_GROUP = 68, _FINAL, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, _FINAL, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, _RETRY, "The broker no longer has this fetch session."
    INVALID_FETCH_SESSION_EPOCH = 71, _RETRY, "The fetch session is at another epoch than the request says."
    LISTENER_NOT_FOUND = 72, _RETRY, "The leader has no listener that matches the one of this request."
    TOPIC_DELETION_DISABLED = 73, _FINAL, "delete.topic.enable is false."
    FENCED_LEADER_EPOCH = 74, _RETRY, "The request's leader epoch is older than the broker's; refresh the metadata."
    UNKNOWN_LEADER_EPOCH = 75, _RETRY, "The request's leader epoch is newer than the broker's."
    UNSUPPORTED_COMPRESSION_TYPE = 76, _FINAL, "The client cannot read the compression of this partition."
    STALE_BROKER_EPOCH = 77, _FINAL, "The broker has registered anew since the request was made."
    OFFSET_NOT_AVAILABLE = 78, _RETRY, "The new leader does not know the high watermark yet."
    MEMBER_ID_REQUIRED = 79, _FINAL, "Join again with the member id that this answer carries."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, _RETRY, "The preferred leader is not available."
    GROUP_MAX_SIZE_REACHED = 81, _FINAL, "The group is full."
    FENCED_INSTANCE_ID = 82, _FINAL, "Another member has taken over this group.instance.id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, _RETRY, "No replica that could become leader is available."
    ELECTION_NOT_NEEDED = 84, _RETRY, "The partition already has the leader that the election would choose."
    NO_REASSIGNMENT_IN_PROGRESS = 85, _FINAL, "The partition is not being moved."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, _FINAL, "The group is subscribed to the topic, so its offsets cannot be deleted."
    INVALID_RECORD = 87, _FINAL, "A record failed the broker's checks."
    UNSTABLE_OFFSET_COMMIT = 88, _RETRY, "Offsets of an open transaction are not settled yet."
    THROTTLING_QUOTA_EXCEEDED = 89, _RETRY, "A quota is used up."
    PRODUCER_FENCED = 90, _FINAL, "A newer producer with the same transactional id has taken over."
    RESOURCE_NOT_FOUND = 91, _FINAL, "The request names something that does not exist."
    DUPLICATE_RESOURCE = 92, _FINAL, "The request names the same thing twice."
    UNACCEPTABLE_CREDENTIAL = 93, _FINAL, "The credential does not meet the rules."
    INCONSISTENT_VOTER_SET = 94, _FINAL, "Sender or receiver is not among the expected voters."
    INVALID_UPDATE_VERSION = 95, _FINAL, "The version of the update is not valid."
    FEATURE_UPDATE_FAILED = 96, _FINAL, "The features could not be updated."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, _FINAL, "The forwarded principal could not be read."
    SNAPSHOT_NOT_FOUND = 98, _FINAL, "There is no such snapshot."
    POSITION_OUT_OF_RANGE = 99, _FINAL, "The position lies outside the snapshot."
    UNKNOWN_TOPIC_ID = 100, _RETRY, "This broker has no topic with this id."
    DUPLICATE_BROKER_REGISTRATION = 101, _FINAL, "Another broker uses this broker id."
    BROKER_ID_NOT_REGISTERED = 102, _FINAL, "No broker is registered with this id."
    INCONSISTENT_TOPIC_ID = 103, _RETRY, "The topic's id is another one than the request says."
    INCONSISTENT_CLUSTER_ID = 104, _FINAL, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, _FINAL, "There is no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, _RETRY, "The fetch session mixes topics with and without ids."
    INELIGIBLE_REPLICA = 107, _FINAL, "The new in-sync set has a replica that may not be in it."
    NEW_LEADER_ELECTED = 108, _FINAL, "The change was made, and the partition has a new leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, _FINAL, "The offset now lies in remote storage only."
    FENCED_MEMBER_EPOCH = 110, _FINAL, "The member was fenced; it must give up its partitions and join again."
    UNRELEASED_INSTANCE_ID = 111, _FINAL, "Another member still uses this instance id."
    UNSUPPORTED_ASSIGNOR = 112, _FINAL, "The group does not support this assignor."
    STALE_MEMBER_EPOCH = 113, _FINAL, "The member's epoch is old; the next heartbeat brings the new one."
    MISMATCHED_ENDPOINT_TYPE = 114, _FINAL, "The request went to an endpoint of the wrong type."
    UNSUPPORTED_ENDPOINT_TYPE = 115, _FINAL, "Endpoints of this type are not supported."
    UNKNOWN_CONTROLLER_ID = 116, _FINAL, "There is no controller with this id."
    UNKNOWN_SUBSCRIPTION_ID = 117, _FINAL, "The telemetry subscription is unknown or outdated."
    TELEMETRY_TOO_LARGE = 118, _FINAL, "The pushed telemetry is larger than the broker accepts."
    INVALID_REGISTRATION = 119, _FINAL, "The controller refused the broker's registration."
    TRANSACTION_ABORTABLE = 120, _FINAL, "The transaction failed; abort it and go on with the same transactional id."
    INVALID_RECORD_STATE = 121, _FINAL, "The record is not in a state that allows this acknowledgement."
    SHARE_SESSION_NOT_FOUND = 122, _RETRY, "The broker no longer has this share session."
    INVALID_SHARE_SESSION_EPOCH = 123, _RETRY, "The share session is at another epoch than the request says."
    FENCED_STATE_EPOCH = 124, _FINAL, "The share group's state is at another epoch than the request says."
    INVALID_VOTER_KEY = 125, _FINAL, "The voter key is not the one of the receiving replica."
    DUPLICATE_VOTER = 126, _FINAL, "The voter is already in the set."
    VOTER_NOT_FOUND = 127, _FINAL, "The voter is not in the set."
    INVALID_REGULAR_EXPRESSION = 128, _FINAL, "The regular expression cannot be compiled."
    REBOOTSTRAP_REQUIRED = (
        129,
        _FINAL,
        "The client's metadata is too old; it must start again from its bootstrap servers.",
    )
    STREAMS_INVALID_TOPOLOGY = 130, _FINAL, "The topology is not valid."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, _FINAL, "The epoch of the topology is not valid."
    STREAMS_TOPOLOGY_FENCED = 132, _FINAL, "A newer topology has taken over."
    SHARE_SESSION_LIMIT_REACHED = 133, _RETRY, "The broker holds as many share sessions as it may."


class KafkaError(Exception):
    """A failure with the code that clients are told; the message defaults to the code's own."""

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        self.code = code
        self.message = message or code.message
        super().__init__(f"{code.name}: {self.message}")
