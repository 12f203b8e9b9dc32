"""Streams, tables and queries as ksqlDB's clients read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from barnabas.kernel.http.schema import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    Shape,
    enum,
    list_of,
    map_of,
    nullable,
    open_object,
)
from streams_sql.engine.queries.query_status import PushStatus, QueryState, QueryStatus
from streams_sql.engine.statements.entities import ColumnLineage, QueryDescription, SourceDescription
from streams_sql.http.schema_shapes import FIELD, query_fields, source_fields
from streams_sql.language.statements import Kind
from streams_sql.plan.lineage import Origin
from streams_sql.progress.backlog import Backlog, PartitionBacklog
from streams_sql.sources import Source

SOURCE: Final = Shape(
    "Source",
    open_object(
        {
            "type": enum(*[kind.value for kind in Kind]),
            "name": STRING,
            "topic": STRING,
            "keyFormat": STRING,
            "valueFormat": STRING,
            "isWindowed": BOOLEAN,
        }
    ),
)
_PROGRESS: Final = open_object({"recordsBehind": INTEGER, "percent": nullable(NUMBER), "isComplete": BOOLEAN})
QUERY: Final = Shape(
    "Query",
    open_object(
        {
            "queryString": STRING,
            "sinks": list_of(STRING),
            "sinkKafkaTopics": list_of(STRING),
            "id": STRING,
            "statusCount": map_of(INTEGER),
            "queryType": enum("PERSISTENT", "PUSH"),
            "state": STRING,
        },
        {
            "isStarting": BOOLEAN,
            "error": STRING,
            "rebuilds": ANYTHING,
            "progress": _PROGRESS,
            "warnings": list_of(STRING),
        },
    ),
)
_ORIGINS: Final = list_of(open_object({"source": STRING, "column": STRING}))
_LINEAGE: Final = {"columnLineage": list_of(open_object({"column": STRING, "sources": _ORIGINS, "declared": _ORIGINS}))}
_OFFSETS: Final = open_object(
    {"partition": INTEGER, "logStartOffset": INTEGER, "logEndOffset": INTEGER, "consumerOffset": INTEGER}
)
_TOPIC_OFFSETS: Final = open_object({"kafkaTopic": STRING, "offsets": list_of(_OFFSETS)})
SOURCE_DESCRIPTION: Final = Shape(
    "SourceDescription",
    open_object(
        {
            "name": STRING,
            "windowType": nullable(STRING),
            "readQueries": list_of(QUERY),
            "writeQueries": list_of(QUERY),
            "fields": list_of(FIELD),
            "type": enum(*[kind.value for kind in Kind]),
            "timestamp": STRING,
            "statistics": STRING,
            "errorStats": STRING,
            "extended": BOOLEAN,
            "keyFormat": STRING,
            "valueFormat": STRING,
            "topic": STRING,
            "partitions": INTEGER,
            "replication": INTEGER,
            "statement": STRING,
            "queryOffsetSummaries": list_of(
                open_object({"groupId": STRING, "topicSummaries": list_of(_TOPIC_OFFSETS)})
            ),
            "sourceConstraints": list_of(STRING),
            "clusterStatistics": list_of(OBJECT),
            "clusterErrorStats": list_of(OBJECT),
        },
        _LINEAGE,
    ),
)
QUERY_DESCRIPTION: Final = Shape(
    "QueryDescription",
    open_object(
        {
            "id": STRING,
            "statementText": STRING,
            "windowType": nullable(STRING),
            "fields": list_of(FIELD),
            "sources": list_of(STRING),
            "sinks": list_of(STRING),
            "topology": STRING,
            "executionPlan": STRING,
            "overriddenProperties": OBJECT,
            "ksqlHostQueryStatus": map_of(STRING),
            "queryType": STRING,
            "queryErrors": list_of(open_object({"timestamp": INTEGER, "errorMessage": STRING, "type": STRING})),
            "tasksMetadata": list_of(OBJECT),
            "consumerGroupId": STRING,
            "state": nullable(STRING),
        },
        {"progress": _PROGRESS, **_LINEAGE},
    ),
)


def listed_source(source: Source) -> dict[str, Any]:
    return {
        "type": source.kind.value,
        "name": source.name,
        "topic": source.topic,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "isWindowed": source.key_window is not None,
    }


def running_query(query: QueryStatus) -> dict[str, Any]:
    state = client_state(query.state)
    return {
        "queryString": query.statement,
        "sinks": [query.sink.name],
        "sinkKafkaTopics": [query.sink.topic],
        "id": query.id,
        "statusCount": {state: 1},
        "queryType": "PERSISTENT",
        "state": state,
        # No members of ksqlDB's: its clients pass over what they do not know.
        **({"isStarting": True} if query.state is QueryState.STARTING else {}),
        **({} if query.error is None else {"error": query.error}),
        **({} if query.rebuilds is None else {"rebuilds": query.rebuilds}),
        **_progress(query.backlog),
        **({"warnings": list(query.warnings)} if query.warnings else {}),
    }


def push_query(query: PushStatus) -> dict[str, Any]:
    return {
        "queryString": query.statement,
        "sinks": [],
        "sinkKafkaTopics": [],
        "id": query.id,
        "statusCount": {"RUNNING": 1},
        "queryType": "PUSH",
        "state": "RUNNING",
    }


def described_source(described: SourceDescription) -> dict[str, Any]:
    source = described.source
    return {
        "name": source.name,
        "windowType": None if source.key_window is None else source.key_window.kind.value,
        "readQueries": [running_query(query) for query in described.readers],
        "writeQueries": [running_query(query) for query in described.writers],
        "fields": source_fields(source.schema),
        "type": source.kind.value,
        "timestamp": "" if source.timestamp is None else source.timestamp.column,
        "statistics": described.statistics,
        "errorStats": described.errors,
        "extended": described.is_extended,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "topic": source.topic,
        "partitions": described.partitions,
        "replication": described.replicas,
        "statement": source.statement,
        "queryOffsetSummaries": _offset_summaries(described.writers) if described.is_extended else [],
        "sourceConstraints": [],
        "clusterStatistics": [],
        "clusterErrorStats": [],
        **_lineage(described.lineage),
    }


def described_query(described: QueryDescription, host: str) -> dict[str, Any]:
    state = None if described.state is None else client_state(described.state)
    return {
        "id": described.id,
        "statementText": described.statement,
        "windowType": described.window,
        "fields": query_fields(described.columns, described.key),
        "sources": list(described.sources),
        "sinks": list(described.sinks),
        "topology": described.topology,
        "executionPlan": described.plan,
        "overriddenProperties": dict(described.properties),
        "ksqlHostQueryStatus": {} if state is None else {host: state},
        "queryType": described.kind,
        "queryErrors": [
            {"timestamp": event.time_ms, "errorMessage": event.text, "type": event.kind} for event in described.errors
        ],
        "tasksMetadata": [],
        "consumerGroupId": "",
        "state": state,
        **_progress(described.backlog),
        **_lineage(described.lineage),
    }


def _progress(backlog: Backlog | None) -> dict[str, Any]:
    """No member of ksqlDB's. `isComplete` is False until the query has caught up for the first time, and whenever it lags."""
    if backlog is None:
        return {}
    return {
        "progress": {
            "recordsBehind": backlog.behind,
            "percent": backlog.percent,
            "isComplete": backlog.is_complete,
        }
    }


def _offset_summaries(queries: Iterable[QueryStatus]) -> list[dict[str, Any]]:
    """What ksqlDB has of consumer groups: Spark's queries are not members of one, and stand here with their ids."""
    known = [(query.id, query.backlog.partitions) for query in queries if query.backlog is not None]
    return [
        {
            "groupId": query_id,
            "topicSummaries": [
                {"kafkaTopic": topic, "offsets": list(map(_partition_offsets, partitions))}
                for topic, partitions in groupby(found, key=attrgetter("topic"))
            ],
        }
        for query_id, found in known
    ]


def _partition_offsets(partition: PartitionBacklog) -> dict[str, int]:
    return {
        "partition": partition.partition,
        "logStartOffset": partition.start,
        "logEndOffset": partition.end,
        "consumerOffset": partition.position,
    }


def _lineage(columns: Sequence[ColumnLineage]) -> dict[str, Any]:
    """No member of ksqlDB's."""
    if not columns:
        return {}
    return {
        "columnLineage": [
            {"column": each.column, "sources": _origins(each.sources), "declared": _origins(each.declared)}
            for each in columns
        ]
    }


def _origins(origins: Iterable[Origin]) -> list[dict[str, str]]:
    return [{"source": each.source, "column": each.column} for each in origins]


def client_state(state: QueryState) -> str:
    """Clients know a fixed set of states, in which a query that starts is running."""
    return (QueryState.RUNNING if state is QueryState.STARTING else state).value
