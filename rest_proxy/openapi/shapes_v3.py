"""The shapes of v3's requests and answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rest_proxy.openapi.schema import (
    ANYTHING,
    BASE64,
    FLAG,
    INT32,
    INT64,
    NAME,
    TEXT,
    TOPIC_NAME,
    Schema,
    answered,
    asked,
    constant,
    list_of,
    map_of,
    nullable,
    one_of,
    ref,
)
from rest_proxy.v3.acl import MEMBERS as ACL_MEMBERS
from rest_proxy.v3.produce_batch import ENTRIES_MAX
from rest_proxy.v3.record_reader import STRATEGIES, TYPES
from rest_proxy.v3.topic_request import BROKER_DEFAULT, PARTITIONS_MAX, REPLICATION_FACTOR_MAX

_LINK: Final = ref("Link")
_SIGNED: Final[Schema] = {"type": "integer"}
_OPERATION: Final = one_of("SET", "DELETE")
_CONFIG: Final = {
    "cluster_id": TEXT,
    "name": TEXT,
    "value": nullable(TEXT),
    "is_read_only": FLAG,
    "is_sensitive": FLAG,
    "source": TEXT,
    "synonyms": list_of(answered({"name": TEXT, "value": nullable(TEXT), "source": TEXT})),
    "is_default": FLAG,
}
_GROUP: Final = {"cluster_id": TEXT, "consumer_group_id": TEXT}
_PLACE: Final = {"cluster_id": TEXT, "topic_name": TEXT, "partition_id": INT32}
_ACL: Final = dict.fromkeys(sorted(ACL_MEMBERS), TEXT)

# The members of each kind of resource, beyond those that all have.
_RESOURCES: Final[dict[str, dict[str, Schema]]] = {
    "KafkaCluster": {
        "cluster_id": TEXT,
        "controller": nullable(_LINK),
        "acls": _LINK,
        "brokers": _LINK,
        "broker_configs": _LINK,
        "consumer_groups": _LINK,
        "topics": _LINK,
        "partition_reassignments": _LINK,
    },
    "KafkaTopic": {
        "cluster_id": TEXT,
        "topic_name": TEXT,
        "is_internal": FLAG,
        "replication_factor": INT32,
        "partitions_count": INT32,
        "partitions": _LINK,
        "configs": _LINK,
        "partition_reassignments": _LINK,
        "authorized_operations": list_of(TEXT),
    },
    "KafkaTopicConfig": {**_CONFIG, "topic_name": TEXT},
    "KafkaBrokerConfig": {**_CONFIG, "broker_id": INT32},
    "KafkaClusterConfig": {**_CONFIG, "config_type": constant("BROKER")},
    "KafkaPartition": {**_PLACE, "leader": nullable(_LINK), "replicas": _LINK, "reassignment": _LINK},
    "KafkaPartitionWithOffsets": {**_PLACE, "earliest_offset": INT64, "latest_offset": INT64},
    "KafkaReplica": {**_PLACE, "broker_id": INT32, "is_leader": FLAG, "is_in_sync": FLAG, "broker": _LINK},
    "KafkaBroker": {
        "cluster_id": TEXT,
        "broker_id": INT32,
        "host": TEXT,
        "port": INT32,
        "rack": nullable(TEXT),
        "configs": _LINK,
        "partition_replicas": _LINK,
    },
    "KafkaConsumerGroup": {
        **_GROUP,
        "is_simple": FLAG,
        "partition_assignor": TEXT,
        "state": TEXT,
        "type": TEXT,
        "is_mixed_consumer_group": FLAG,
        "coordinator": _LINK,
        "consumers": _LINK,
        "lag_summary": _LINK,
    },
    "KafkaConsumer": {
        **_GROUP,
        "consumer_id": TEXT,
        "instance_id": nullable(TEXT),
        "client_id": TEXT,
        "assignments": _LINK,
    },
    "KafkaConsumerAssignment": {**_GROUP, **_PLACE, "consumer_id": TEXT, "partition": _LINK, "lag": _LINK},
    "KafkaConsumerLag": {
        **_GROUP,
        **_PLACE,
        "consumer_id": TEXT,
        "instance_id": nullable(TEXT),
        "client_id": TEXT,
        "current_offset": INT64,
        "log_end_offset": INT64,
        "lag": _SIGNED,
    },
    "KafkaConsumerGroupLagSummary": {
        **_GROUP,
        "max_lag": _SIGNED,
        "total_lag": _SIGNED,
        "max_lag_consumer_id": TEXT,
        "max_lag_consumer": _LINK,
        "max_lag_client_id": TEXT,
        "max_lag_instance_id": nullable(TEXT),
        "max_lag_topic_name": TEXT,
        "max_lag_partition_id": INT32,
        "max_lag_partition": _LINK,
    },
    "KafkaAcl": {"cluster_id": TEXT, **_ACL},
}
_NEVER_LISTED: Final = frozenset({"KafkaConsumerGroupLagSummary", "KafkaPartitionWithOffsets"})
_MOMENT: Final[Schema] = {"type": "string", "format": "date-time"}
_DATA: Final = asked(
    {"data": ANYTHING},
    {
        "type": one_of(*TYPES),
        "subject": NAME,
        "subject_name_strategy": one_of(*STRATEGIES),
        "schema_id": INT32,
        "schema_version": INT32,
        "schema": TEXT,
    },
)
_HEADER: Final = asked({"name": TEXT}, {"value": nullable(BASE64)})
_RECORD: Final = {
    "partition_id": nullable(INT32),
    "headers": list_of(_HEADER),
    "key": nullable(ref("RecordData")),
    "value": nullable(ref("RecordData")),
    "timestamp": _MOMENT,
}
_WRITTEN: Final = {**_PLACE, "offset": _SIGNED}
_TOLD: Final = {"timestamp": _MOMENT, "key": ref("WrittenData"), "value": ref("WrittenData")}
"""What receipts have as far as there is something to tell."""
_SHOWN: Final = nullable(answered({"type": one_of(*TYPES), "data": ANYTHING}))
_CHANGES: Final = list_of(asked({"name": NAME}, {"value": nullable(TEXT), "operation": _OPERATION}))


def _shapes() -> Iterator[tuple[str, Schema]]:
    yield "Link", answered({"related": {"type": "string", "format": "uri"}})
    for kind, members in _RESOURCES.items():
        named = {"kind": constant(kind), "metadata": answered({"self": TEXT})}
        yield kind, answered({**named, **members})
        if kind in _NEVER_LISTED:
            continue
        many = {"kind": constant(f"{kind}List"), "metadata": answered({"self": TEXT, "next": nullable(TEXT)})}
        yield f"{kind}List", answered({**many, "data": list_of(ref(kind))})


SHAPES: Final[dict[str, Schema]] = {
    **dict(_shapes()),
    "NewTopic": asked(
        {"topic_name": TOPIC_NAME},
        {
            "partitions_count": {"type": "integer", "minimum": BROKER_DEFAULT, "maximum": PARTITIONS_MAX},
            "replication_factor": {"type": "integer", "minimum": BROKER_DEFAULT, "maximum": REPLICATION_FACTOR_MAX},
            "replicas_assignments": map_of(list_of(INT32)),
            "configs": list_of(asked({"name": NAME, "value": TEXT})),
            "validate_only": FLAG,
        },
    ),
    "PartitionsCount": asked({"partitions_count": {"type": "integer", "minimum": 1, "maximum": PARTITIONS_MAX}}),
    "ConfigValue": asked({"value": TEXT}),
    "ConfigChanges": asked({"data": _CHANGES}, {"validate_only": FLAG}),
    "TopicConfigChanges": asked(
        {"data": list_of(asked({"topic_name": TOPIC_NAME, "configs": _CHANGES}))}, {"validate_only": FLAG}
    ),
    "TopicConfigFailures": answered(
        {"failures": list_of(answered({"topic_name": TEXT, "error_code": INT32, "message": TEXT}))}
    ),
    "NewAcl": asked(_ACL),
    "NewAcls": asked({"data": list_of(ref("NewAcl"))}),
    "DeletedAcls": answered({"data": list_of(ref("KafkaAcl"))}),
    "RecordData": _DATA,
    "Record": asked({}, _RECORD),
    "RecordBatch": asked(
        {
            "entries": list_of(
                asked({"id": {"type": "string", "pattern": "^[0-9a-zA-Z_-]{1,80}$"}}, _RECORD),
                minItems=1,
                maxItems=ENTRIES_MAX,
            )
        }
    ),
    "WrittenData": answered(
        {"type": one_of(*TYPES), "size": _SIGNED},
        {"subject": NAME, "schema_id": INT32, "schema_version": INT32},
    ),
    "Receipt": {"anyOf": [answered({"error_code": INT32, **_WRITTEN}, _TOLD), ref("Error")]},
    "BatchReceipts": answered(
        {
            "successes": list_of(answered({"id": TEXT, **_WRITTEN}, _TOLD)),
            "failures": list_of(answered({"id": TEXT, "error_code": INT32, "message": TEXT})),
        }
    ),
    "StreamedRecord": answered(
        {"partition_id": INT32, "offset": INT64, "key": _SHOWN, "value": _SHOWN},
        {"timestamp": _MOMENT, "headers": list_of(_HEADER)},
    ),
}
