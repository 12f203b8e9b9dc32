"""What v3 serves: the cluster and all that is in it, records in streams and batches, and live streams."""

from __future__ import annotations

from typing import Any, Final

from rest_proxy.formats.schema_choice import AUTO
from rest_proxy.openapi.operation import Content, Operation, Parameter
from rest_proxy.openapi.schema import FLAG, INT32, INT64, TEXT, Schema, list_of, one_of, ref
from rest_proxy.streams.framing import Framing
from rest_proxy.v3.acl import MEMBERS as ACL_MEMBERS
from rest_proxy.v3.record_reader import TYPES

JSON: Final = ("application/json",)
READ_ERRORS: Final = frozenset({400, 401, 403, 404, 406, 408, 429, 500, 503})
WRITE_ERRORS: Final = READ_ERRORS | {413, 415, 422}
NOT_IMPLEMENTED: Final = 501

_CLUSTER: Final = "/v3/clusters/{cluster_id}"
_TOPIC: Final = f"{_CLUSTER}/topics/{{topic_name}}"
_PARTITION: Final = f"{_TOPIC}/partitions/{{partition_id}}"
_BROKER: Final = f"{_CLUSTER}/brokers/{{broker_id}}"
_GROUP: Final = f"{_CLUSTER}/consumer-groups/{{group_id}}"
_CONSUMER: Final = f"{_GROUP}/consumers/{{consumer_id}}"
_ONE_PARTITION: Final = "{topic_name}/partitions/{partition_id}"

_OPERATIONS_TOO: Final = Parameter(
    "include_authorized_operations", FLAG, "Tell what the service may do with each topic."
)
_OFFSET_TYPE: Final = Parameter("offset_type", one_of("earliest_and_latest"), "Which offsets to tell.")
_ACL_PATTERN: Final = tuple(
    Parameter(name, TEXT, "Rules that have this; the words may be ANY.") for name in sorted(ACL_MEMBERS)
)
_FORMATS: Final = one_of(AUTO.upper(), *TYPES)
_STREAMED: Final[Schema] = {
    "type": "string",
    "description": "Many objects: one in each line, or in the data of each event.",
    "contentMediaType": "application/json",
    "contentSchema": ref("StreamedRecord"),
}
_RECORD_EXAMPLE: Final = {"key": {"type": "STRING", "data": "key"}, "value": {"type": "JSON", "data": {"any": "JSON"}}}
_STREAM: Final = (
    Parameter(
        "from",
        TEXT,
        "Where to begin: `beginning` (`earliest`), `end` (`latest`), an offset, a date, or the id of an event.",
    ),
    Parameter("partition", list_of(INT32), "Partitions to read; all when it is not given."),
    Parameter(
        "key", TEXT, "Records with this key alone, as key_format has it: `a` is the JSON string, too, and 1 the number."
    ),
    Parameter("limit", INT64, "End after so many records."),
    Parameter("key_format", _FORMATS, "How to show keys. AUTO: by their schema, else as JSON, text or base64."),
    Parameter("value_format", _FORMATS, "How to show values. AUTO: by their schema, else as JSON, text or base64."),
    Parameter("group", TEXT, "Read as a member of this consumer group."),
    Parameter("Last-Event-ID", TEXT, "The last event that the client has seen.", "header"),
)


def _read(path: str, tag: str, summary: str, shape: str, *parameters: Parameter) -> Operation:
    return Operation("GET", path, tag, summary, {200: Content(ref(shape), JSON)}, READ_ERRORS, JSON, parameters)


def _write(
    method: str,
    path: str,
    tag: str,
    summary: str,
    body: str | None,
    answers: dict[int, Schema | None],
    example: Any = None,
) -> Operation:
    given = None if body is None else Content(ref(body), JSON, example)
    told = {status: None if schema is None else Content(schema, JSON) for status, schema in answers.items()}
    return Operation(method, path, tag, summary, told, WRITE_ERRORS, JSON, body=given)


def _refused(method: str, path: str, tag: str, summary: str) -> Operation:
    """What librdkafka cannot do: clients are told so, and what to do instead."""
    return Operation(method, path, tag, f"{summary} (not implemented)", {}, WRITE_ERRORS | {NOT_IMPLEMENTED}, JSON)


def _configs(above: str, tag: str, kind: str) -> tuple[Operation, ...]:
    one = f"{above}/{{name}}"
    return (
        _read(above, tag, "List configs", f"{kind}List"),
        _write("POST", f"{above}:alter", tag, "Change several configs at once", "ConfigChanges", {204: None}),
        _read(one, tag, "Tell a config", kind),
        _write("PUT", one, tag, "Set a config", "ConfigValue", {204: None}),
        _write("DELETE", one, tag, "Set a config back to its default", None, {204: None}),
    )


_TOPICS: Final = (
    _read(f"{_CLUSTER}/topics", "Topics", "List topics", "KafkaTopicList", _OPERATIONS_TOO),
    _write(
        "POST",
        f"{_CLUSTER}/topics",
        "Topics",
        "Create a topic, or see whether it could be created",
        "NewTopic",
        {200: ref("KafkaTopic"), 201: ref("KafkaTopic")},
    ),
    _read(_TOPIC, "Topics", "Describe a topic", "KafkaTopic", _OPERATIONS_TOO),
    _write("PATCH", _TOPIC, "Topics", "Add partitions to a topic", "PartitionsCount", {200: ref("KafkaTopic")}),
    _write("DELETE", _TOPIC, "Topics", "Delete a topic", None, {204: None}),
    _read(f"{_TOPIC}/partitions", "Partitions", "List the partitions of a topic", "KafkaPartitionList"),
    _read(_PARTITION, "Partitions", "Describe a partition", "KafkaPartition"),
    _read(
        f"{_PARTITION}/offset",
        "Partitions",
        "Tell the first offset of a partition, and the next one",
        "KafkaPartitionWithOffsets",
        _OFFSET_TYPE,
    ),
    _read(f"{_PARTITION}/replicas", "Partitions", "List the replicas of a partition", "KafkaReplicaList"),
    _read(f"{_PARTITION}/replicas/{{broker_id}}", "Partitions", "Describe a replica", "KafkaReplica"),
    _refused("GET", f"{_PARTITION}/reassignment", "Partitions", "Tell the reassignment of a partition"),
    _refused("GET", f"{_TOPIC}/partitions/-/reassignment", "Partitions", "List the reassignments of a topic"),
)
_CONFIGS: Final = (
    _read(f"{_CLUSTER}/topics/-/configs", "Topic configs", "List the configs of all topics", "KafkaTopicConfigList"),
    _write(
        "POST",
        f"{_CLUSTER}/topics/-/configs:alter",
        "Topic configs",
        "Change the configs of several topics",
        "TopicConfigChanges",
        {204: None, 207: ref("TopicConfigFailures")},
    ),
    *_configs(f"{_TOPIC}/configs", "Topic configs", "KafkaTopicConfig"),
    _read(
        f"{_CLUSTER}/brokers/-/configs", "Broker configs", "List the configs of all brokers", "KafkaBrokerConfigList"
    ),
    *_configs(f"{_BROKER}/configs", "Broker configs", "KafkaBrokerConfig"),
    *_configs(f"{_CLUSTER}/broker-configs", "Configs of all brokers", "KafkaClusterConfig"),
)
_GROUPS: Final = (
    _read(f"{_CLUSTER}/consumer-groups", "Consumer groups", "List consumer groups", "KafkaConsumerGroupList"),
    _read(_GROUP, "Consumer groups", "Describe a group", "KafkaConsumerGroup"),
    _read(f"{_GROUP}/consumers", "Consumer groups", "List the members of a group", "KafkaConsumerList"),
    _read(_CONSUMER, "Consumer groups", "Describe a member", "KafkaConsumer"),
    _read(
        f"{_CONSUMER}/assignments", "Consumer groups", "List the partitions of a member", "KafkaConsumerAssignmentList"
    ),
    _read(
        f"{_CONSUMER}/assignments/{_ONE_PARTITION}",
        "Consumer groups",
        "Describe a partition of a member",
        "KafkaConsumerAssignment",
    ),
    _read(
        f"{_GROUP}/lag-summary",
        "Consumer groups",
        "Tell how far a group is behind",
        "KafkaConsumerGroupLagSummary",
    ),
    _read(
        f"{_GROUP}/lags", "Consumer groups", "List how far a group is behind in each partition", "KafkaConsumerLagList"
    ),
    _read(
        f"{_GROUP}/lags/{_ONE_PARTITION}",
        "Consumer groups",
        "Tell how far a group is behind in a partition",
        "KafkaConsumerLag",
    ),
)
_ACLS: Final = (
    _read(f"{_CLUSTER}/acls", "ACLs", "Search rules of access", "KafkaAclList", *_ACL_PATTERN),
    _write("POST", f"{_CLUSTER}/acls", "ACLs", "Create a rule", "NewAcl", {201: None}),
    Operation(
        "DELETE",
        f"{_CLUSTER}/acls",
        "ACLs",
        "Delete the rules that fit",
        {200: Content(ref("DeletedAcls"), JSON)},
        READ_ERRORS,
        JSON,
        _ACL_PATTERN,
    ),
    _write("POST", f"{_CLUSTER}/acls:batch", "ACLs", "Create several rules", "NewAcls", {204: None}),
)
_RECORDS: Final = (
    _write(
        "POST",
        f"{_TOPIC}/records",
        "Records",
        "Write records, one JSON object after the other, and get a receipt for each while the rest is sent",
        "Record",
        {200: ref("Receipt")},
        _RECORD_EXAMPLE,
    ),
    _write(
        "POST",
        f"{_TOPIC}/records:batch",
        "Records",
        "Write a few records",
        "RecordBatch",
        {207: ref("BatchReceipts")},
        {"entries": [{"id": "1", **_RECORD_EXAMPLE}]},
    ),
    Operation(
        "GET",
        f"{_TOPIC}/records",
        "Records",
        "Read records as they come: one JSON object a line, or server-sent events",
        {200: Content(_STREAMED, tuple(framing.value for framing in Framing))},
        READ_ERRORS,
        JSON,
        _STREAM,
    ),
)

OPERATIONS: Final = (
    _read("/v3/clusters", "Clusters", "List clusters: the one that this service is connected to", "KafkaClusterList"),
    _read(_CLUSTER, "Clusters", "Describe the cluster", "KafkaCluster"),
    _read(f"{_CLUSTER}/brokers", "Brokers", "List brokers", "KafkaBrokerList"),
    _read(_BROKER, "Brokers", "Describe a broker", "KafkaBroker"),
    _read(f"{_BROKER}/partition-replicas", "Brokers", "List the replicas on a broker", "KafkaReplicaList"),
    *_TOPICS,
    *_RECORDS,
    *_CONFIGS,
    *_GROUPS,
    *_ACLS,
)
