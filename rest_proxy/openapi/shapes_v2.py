"""The shapes of v2's requests and answers."""

from __future__ import annotations

from typing import Final

from rest_proxy.formats.schema_choice import BINARY
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
    list_of,
    map_of,
    nullable,
    one_of,
    ref,
)
from rest_proxy.v2.consuming.choice import ANY_RECORD, FETCH_MIN_BYTES_MAX
from rest_proxy.v2.media import EMBEDDED_FORMATS

_PLACE: Final = {"topic": TOPIC_NAME, "partition": INT32}
_INSTANCE: Final[dict[str, Schema]] = {"instance_id": TEXT, "base_uri": {"type": "string", "format": "uri"}}
_NOTE: Final = {"metadata": nullable(TEXT)}
_MOMENT: Final[Schema] = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number", "minimum": 0}]}
_HEADERS: Final = list_of(answered({"name": TEXT, "value": nullable(BASE64)}))
_RECORD: Final = {"topic": TEXT, "key": ANYTHING, "value": ANYTHING, "partition": INT32, "offset": INT64}
# Producers may leave a timestamp away, and then there is none.
_TIMESTAMP: Final[Schema] = nullable({"type": "integer"})

_DATA: Final = {form: nullable(BASE64) if form == BINARY else ANYTHING for form in EMBEDDED_FORMATS}


def records_to_produce(form: str) -> str:
    """The name of the shape."""
    return f"{form.capitalize()}RecordsToProduce"


SHAPES: Final[dict[str, Schema]] = {
    "Brokers": answered({"brokers": list_of(INT32)}),
    "TopicNames": list_of(TEXT),
    "Replica": answered({"broker": INT32, "leader": FLAG, "in_sync": FLAG}),
    "Partition": answered(
        {"partition": INT32, "leader": {"type": "integer", "minimum": -1}, "replicas": list_of(ref("Replica"))}
    ),
    "Partitions": list_of(ref("Partition")),
    "Topic": answered({"name": TEXT, "configs": map_of(nullable(TEXT)), "partitions": ref("Partitions")}),
    "PartitionOffsets": answered({"beginning_offset": INT64, "end_offset": INT64}),
    **{
        records_to_produce(form): asked(
            {"records": list_of(asked({}, {"key": data, "value": data, "partition": nullable(INT32)}), minItems=1)},
            {
                "key_schema": nullable(TEXT),
                "key_schema_id": nullable(INT32),
                "value_schema": nullable(TEXT),
                "value_schema_id": nullable(INT32),
            },
        )
        for form, data in _DATA.items()
    },
    "ProducedRecords": answered(
        {
            "offsets": list_of(
                answered(
                    {
                        "partition": nullable(INT32),
                        "offset": nullable(INT64),
                        "error_code": nullable(INT32),
                        "error": nullable(TEXT),
                    }
                )
            ),
            "key_schema_id": nullable(INT32),
            "value_schema_id": nullable(INT32),
        }
    ),
    "InstanceChoice": asked(
        {},
        {
            "id": NAME,
            "name": NAME,
            "format": one_of(*EMBEDDED_FORMATS),
            "auto.offset.reset": one_of("earliest", "latest", "none"),
            "auto.commit.enable": {"anyOf": [FLAG, one_of("true", "false")]},
            "fetch.min.bytes": {"type": "integer", "minimum": ANY_RECORD, "maximum": FETCH_MIN_BYTES_MAX},
            "consumer.request.timeout.ms": INT32,
        },
    ),
    "Instance": answered(_INSTANCE),
    "Instances": list_of(answered({"group": TEXT, **_INSTANCE})),
    "Subscription": asked({}, {"topics": list_of(TOPIC_NAME), "topic_pattern": NAME}),
    "SubscribedTopics": answered({"topics": list_of(TEXT)}),
    "PartitionChoice": asked({"partitions": list_of(asked(_PLACE))}),
    "AssignedPartitions": answered({"partitions": list_of(answered(_PLACE))}),
    "Commits": asked({}, {"offsets": list_of(asked({**_PLACE, "offset": INT64}, _NOTE))}),
    "CommittedOffsets": answered({"offsets": list_of(answered({**_PLACE, "offset": INT64, "metadata": TEXT}))}),
    "Seek": asked(
        {},
        {
            "offsets": list_of(asked({**_PLACE, "offset": INT64}, _NOTE)),
            "timestamps": list_of(asked({**_PLACE, "timestamp": _MOMENT}, _NOTE)),
        },
    ),
    "ConsumedRecords": list_of(
        {
            **answered(_RECORD),
            "properties": {**_RECORD, "timestamp": _TIMESTAMP, "headers": _HEADERS},
        }
    ),
    "PartitionRecords": list_of(
        {
            **answered({**_RECORD, "timestamp": {"type": "integer"}, "headers": _HEADERS}),
            "description": "key_type and value_type tell the format where the reader has left it open: application/json.",
        }
    ),
}
