"""What v2 serves: topics and records of any format, and consumers that live in the service."""

from __future__ import annotations

from typing import Any, Final

from rest_proxy.formats.schema_choice import AVRO, BINARY, JSONSCHEMA, PROTOBUF
from rest_proxy.formats.schema_choice import JSON as JSON_FORMAT
from rest_proxy.openapi.operation import Content, Contents, Operation, Parameter
from rest_proxy.openapi.schema import FLAG, INT32, INT64, TEXT, Schema, list_of, one_of, ref
from rest_proxy.openapi.shapes_v2 import records_to_produce
from rest_proxy.v2.media import EMBEDDED_TYPES, V2

JSON: Final = "application/json"
ANSWER_TYPES: Final = (V2, "application/vnd.kafka+json", JSON)
RECORD_TYPES: Final = tuple(EMBEDDED_TYPES.values())
CONSUMER_TYPES: Final = (V2, *RECORD_TYPES)

READ_ERRORS: Final = frozenset({400, 401, 403, 404, 406, 408, 429, 500, 503})
WRITE_ERRORS: Final = READ_ERRORS | {413, 415, 422}
INSTANCE_ERRORS: Final = WRITE_ERRORS | {409}

_TOPIC: Final = "/topics/{topic}"
_PARTITION: Final = f"{_TOPIC}/partitions/{{partition}}"
_INSTANCE: Final = "/consumers/{group}/instances/{instance}"
_EMPTY: Final[Schema] = {"type": "object", "maxProperties": 0}

_TIMEOUT: Final = Parameter("timeout", INT64, "Milliseconds to wait for the first record.")
_REQUEST_ID: Final = Parameter(
    "X-Request-ID", TEXT, "A name for the request, which its answer and the log repeat.", "header"
)
_LIMIT: Final = Parameter("limit", INT32, "Records after which the answer ends.")
_MAX_BYTES: Final = Parameter("max_bytes", INT64, "Bytes of keys and values after which the answer ends.")
_INCLUDE: Final = Parameter(
    "include",
    one_of("headers", "timestamp", "headers,timestamp"),
    "What to tell of each record beyond key, value and place.",
)
_ASYNC: Final = Parameter("async", FLAG, "Answer before the group's coordinator has.")
_START: Final = (
    Parameter(
        "offset",
        TEXT,
        "Where to begin: a number, `beginning` (`earliest`) or `end` (`latest`). Either this or a timestamp is needed.",
    ),
    Parameter(
        "timestamp",
        TEXT,
        "When to begin: a date such as 2026-01-31 or 2026-01-31T12:00:00Z, or milliseconds since 1970.",
    ),
)


_AVRO: Final = '{"type": "record", "name": "Reading", "fields": [{"name": "celsius", "type": "int"}]}'
_PROTOBUF: Final = 'syntax = "proto3"; message Reading { int32 celsius = 1; }'
_SCHEMA_OF_JSON: Final = '{"type": "object", "properties": {"celsius": {"type": "integer"}}}'
_READING: Final = [{"value": {"celsius": 21}}]
_PRODUCE_EXAMPLES: Final = {
    BINARY: {"records": [{"key": "a2V5", "value": "dmFsdWU="}]},
    JSON_FORMAT: {"records": [{"key": "key", "value": {"any": "JSON"}}]},
    AVRO: {"value_schema": _AVRO, "records": _READING},
    JSONSCHEMA: {"value_schema": _SCHEMA_OF_JSON, "records": _READING},
    PROTOBUF: {"value_schema": _PROTOBUF, "records": _READING},
}
# A shape for each type: generators of clients name their functions by them.
_RECORDS_TO_PRODUCE: Final = Contents(
    tuple(
        Content(ref(records_to_produce(form)), (EMBEDDED_TYPES[form],), example)
        for form, example in _PRODUCE_EXAMPLES.items()
    )
)


def _read(path: str, summary: str, schema: Schema, tag: str = "Topics (v2)") -> Operation:
    return Operation("GET", path, tag, summary, {200: Content(schema, ANSWER_TYPES)}, READ_ERRORS, (V2, JSON))


def _produce(path: str, summary: str) -> Operation:
    # Whoever is not let in is told so with the results of each record.
    answer = Content(ref("ProducedRecords"), ANSWER_TYPES)
    denied = Content({"anyOf": [ref("ProducedRecords"), ref("Error")]}, ANSWER_TYPES)
    return Operation(
        "POST",
        path,
        "Records (v2)",
        summary,
        {200: answer, 401: denied, 403: denied},
        WRITE_ERRORS - {401, 403},
        (V2, JSON),
        (_REQUEST_ID,),
        body=_RECORDS_TO_PRODUCE,
    )


def _consumer(
    method: str,
    path: str,
    summary: str,
    answer: Schema | None,
    body: Schema | None = None,
    parameters: tuple[Parameter, ...] = (),
    *,
    needs_body: bool = True,
    example: Any = None,
) -> Operation:
    answers = {204: None} if answer is None else {200: Content(answer, CONSUMER_TYPES)}
    given = None if body is None else Content(body, (V2,), example)
    return Operation(
        method,
        path,
        "Consumers (v2)",
        summary,
        answers,
        INSTANCE_ERRORS,
        (V2, JSON),
        parameters,
        given,
        needs_body=needs_body,
    )


OPERATIONS: Final = (
    Operation(
        "GET",
        "/",
        "Service",
        "Tell that somebody is there; browsers are led to the page for people",
        {200: Content(_EMPTY, ANSWER_TYPES), 303: None},
        frozenset({406}),
        (V2, JSON),
    ),
    Operation("POST", "/", "Service", "The same", {200: Content(_EMPTY, ANSWER_TYPES)}, frozenset({406}), (V2, JSON)),
    _read("/brokers", "List the ids of brokers", ref("Brokers"), "Brokers (v2)"),
    _read("/topics", "List the names of topics", ref("TopicNames")),
    _read(_TOPIC, "Describe a topic with its configs and partitions", ref("Topic")),
    _read(f"{_TOPIC}/partitions", "List the partitions of a topic", ref("Partitions")),
    _read(_PARTITION, "Describe a partition", ref("Partition")),
    _read(f"{_PARTITION}/offsets", "Tell the first offset of a partition, and the next one", ref("PartitionOffsets")),
    _produce(_TOPIC, "Write records to a topic"),
    _produce(_PARTITION, "Write records to a partition"),
    Operation(
        "GET",
        f"{_PARTITION}/records",
        "Records (v2)",
        "Read records of a partition from any place on, without a consumer instance",
        {200: Content(ref("PartitionRecords"), (JSON, *RECORD_TYPES, "application/vnd.kafka.string.v2+json", V2))},
        READ_ERRORS,
        (V2, JSON),
        (*_START, _TIMEOUT, _LIMIT, _MAX_BYTES),
    ),
    _consumer("GET", "/consumers", "List the open consumer instances of this proxy", ref("Instances")),
    _consumer(
        "POST",
        "/consumers/{group}",
        "Open a consumer instance",
        ref("Instance"),
        ref("InstanceChoice"),
        needs_body=False,
        example={"name": "reader", "format": "json", "auto.offset.reset": "earliest"},
    ),
    _consumer("DELETE", _INSTANCE, "Close an instance: it leaves its group", None),
    _consumer(
        "POST",
        f"{_INSTANCE}/subscription",
        "Subscribe to topics",
        None,
        ref("Subscription"),
        example={"topics": ["readings"]},
    ),
    _consumer("GET", f"{_INSTANCE}/subscription", "List the subscribed topics", ref("SubscribedTopics")),
    _consumer("DELETE", f"{_INSTANCE}/subscription", "Unsubscribe from all topics", None),
    _consumer("POST", f"{_INSTANCE}/assignments", "Choose partitions, without a group", None, ref("PartitionChoice")),
    _consumer("GET", f"{_INSTANCE}/assignments", "List the assigned partitions", ref("AssignedPartitions")),
    _consumer(
        "POST",
        f"{_INSTANCE}/offsets",
        "Commit offsets; without a body those of all records that were read",
        list_of({}, maxItems=0),
        ref("Commits"),
        (_ASYNC,),
        needs_body=False,
    ),
    _consumer(
        "GET",
        f"{_INSTANCE}/offsets",
        "Tell the committed offsets of the partitions in the body",
        ref("CommittedOffsets"),
        ref("PartitionChoice"),
    ),
    _consumer("POST", f"{_INSTANCE}/positions", "Go on at these offsets or moments", None, ref("Seek")),
    _consumer("POST", f"{_INSTANCE}/positions/beginning", "Go on at the first records", None, ref("PartitionChoice")),
    _consumer("POST", f"{_INSTANCE}/positions/end", "Go on after the last records", None, ref("PartitionChoice")),
    _consumer(
        "GET",
        f"{_INSTANCE}/records",
        "Read records of the subscribed topics or assigned partitions",
        ref("ConsumedRecords"),
        None,
        (_TIMEOUT, _MAX_BYTES, _INCLUDE),
    ),
)
