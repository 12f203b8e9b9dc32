"""The results of statements, as ksqlDB's clients read them: one object for each, distinguished by its `@type`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.kernel.http.schema import (
    ANYTHING,
    BOOLEAN,
    INTEGER,
    STRING,
    Schema,
    Shape,
    any_of,
    enum,
    list_of,
    map_of,
    nullable,
    open_object,
)
from streams_sql.engine.queries.error_log import QueryError
from streams_sql.engine.statements.entities import (
    Acknowledgement,
    CommandStatus,
    Entity,
    ErrorList,
    FunctionDescription,
    FunctionList,
    IndexList,
    IndexStatus,
    PropertyList,
    PushQueryEnd,
    QueryDescription,
    QueryList,
    SchemaAssertion,
    SourceDescription,
    SourceList,
    StatementResult,
    StatementWarning,
    Topic,
    TopicAssertion,
    TopicList,
    TypeList,
    VariableList,
)
from streams_sql.http.connector_shapes import CONNECTOR_ENTITIES, connector_entity
from streams_sql.http.entity import entity
from streams_sql.http.function_shapes import FUNCTION_ENTITIES, described_function, listed_function
from streams_sql.http.schema_shapes import TYPE, type_shape
from streams_sql.http.source_shapes import (
    QUERY,
    QUERY_DESCRIPTION,
    SOURCE,
    SOURCE_DESCRIPTION,
    described_query,
    described_source,
    listed_source,
    push_query,
    running_query,
)
from streams_sql.language.masking import masked
from streams_sql.language.statements import Kind

SUCCESS: Final = "SUCCESS"
QUERIES: Final = "queries"

COMMAND_STATUS: Final = Shape(
    "CommandStatus", open_object({"status": STRING, "message": STRING, "queryId": nullable(STRING)})
)
_TOPIC: Final[dict[str, Schema]] = {"name": STRING, "replicaInfo": list_of(INTEGER)}
_ERROR: Final = open_object(
    {
        "time": INTEGER,
        "queryId": STRING,
        "kind": STRING,
        "topic": nullable(STRING),
        "partition": nullable(INTEGER),
        "offset": nullable(INTEGER),
        "message": STRING,
        "part": nullable(STRING),
        "record": ANYTHING,
        "times": INTEGER,
    }
)
_PROPERTY: Final = open_object(
    {"name": STRING, "scope": STRING, "value": nullable(STRING), "editable": BOOLEAN, "level": enum("QUERY", "SERVER")}
)
ENTITY: Final = any_of(
    entity(
        "currentStatus",
        {"commandId": STRING, "commandStatus": COMMAND_STATUS, "commandSequenceNumber": INTEGER},
    ),
    entity("warning_entity", {"message": STRING}),
    entity("terminate_query", {"queryId": STRING, "wasTerminated": BOOLEAN}),
    entity("assert_topic", {"topicName": STRING, "exists": BOOLEAN}),
    entity("assert_schema", {"subject": nullable(STRING), "id": nullable(INTEGER), "exists": BOOLEAN}),
    entity("streams", {"streams": list_of(SOURCE)}),
    entity("tables", {"tables": list_of(SOURCE)}),
    entity("source_descriptions", {"sourceDescriptions": list_of(SOURCE_DESCRIPTION)}),
    entity("sourceDescription", {"sourceDescription": SOURCE_DESCRIPTION}),
    entity(QUERIES, {QUERIES: list_of(QUERY)}),
    entity("query_descriptions", {"queryDescriptions": list_of(QUERY_DESCRIPTION)}),
    entity("queryDescription", {"queryDescription": QUERY_DESCRIPTION}),
    entity("kafka_topics", {"topics": list_of(open_object(_TOPIC))}),
    entity(
        "kafka_topics_extended",
        {"topics": list_of(open_object({**_TOPIC, "consumerCount": INTEGER, "consumerGroupCount": INTEGER}))},
    ),
    entity(
        "indexes",
        {
            "indexes": list_of(
                open_object({"name": STRING, "table": STRING, "columns": list_of(STRING), "state": STRING})
            )
        },
    ),
    entity("type_list", {"types": map_of(TYPE)}),
    entity("variables", {"variables": list_of(open_object({"name": STRING, "value": STRING}))}),
    entity(
        "properties",
        {
            "properties": list_of(_PROPERTY),
            "overwrittenProperties": list_of(STRING),
            "defaultProperties": list_of(STRING),
        },
    ),
    entity("errors", {"errors": list_of(_ERROR), "counts": map_of(map_of(INTEGER))}),
    *FUNCTION_ENTITIES,
    *CONNECTOR_ENTITIES,
)


class Shapes:
    """`host` names this server where queries are listed."""

    def __init__(self, host: Callable[[], str]) -> None:
        self._host = host

    def entities(self, results: Iterable[StatementResult]) -> list[dict[str, Any]]:
        """Statements with nothing to report are left out."""
        return [self._entity(each) for each in results if not isinstance(each.entity, Acknowledgement)]

    def _entity(self, result: StatementResult) -> dict[str, Any]:
        shape = self._shape(result.entity)
        warnings = [{"message": text} for text in getattr(result.entity, "warnings", ())]
        return {"@type": shape.pop("@type"), "statementText": masked(result.statement), **shape, "warnings": warnings}

    def _shape(self, entity: Entity) -> dict[str, Any]:
        match entity:
            case CommandStatus() | StatementWarning() | PushQueryEnd() | TopicAssertion() | SchemaAssertion():
                return _outcome(entity)
            case SourceList() as listed:
                return _sources(listed)
            case QueryList(queries, pushes, described, is_extended):
                if is_extended:
                    return _list("query_descriptions", "queryDescriptions", map(self._query, described))
                return _list(QUERIES, QUERIES, [*map(running_query, queries), *map(push_query, pushes)])
            case SourceDescription() as source:
                return {"@type": "sourceDescription", "sourceDescription": described_source(source)}
            case QueryDescription() as query:
                return {"@type": "queryDescription", "queryDescription": self._query(query)}
            case TopicList() | IndexList() | TypeList() | VariableList() | PropertyList() | ErrorList():
                return _listing(entity)
            case FunctionList(functions):
                return _list("function_names", "functions", map(listed_function, functions))
            case FunctionDescription(function):
                return {"@type": "describe_function", **described_function(function)}
        assert not isinstance(entity, Acknowledgement), "it has no shape"
        return connector_entity(entity)

    def _query(self, described: QueryDescription) -> dict[str, Any]:
        return described_query(described, self._host())


def _outcome(
    entity: CommandStatus | StatementWarning | PushQueryEnd | TopicAssertion | SchemaAssertion,
) -> dict[str, Any]:
    match entity:
        case StatementWarning(message):
            return {"@type": "warning_entity", "message": message}
        case PushQueryEnd(query_id):
            return {"@type": "terminate_query", "queryId": query_id, "wasTerminated": True}
        case TopicAssertion(topic, exists):
            return {"@type": "assert_topic", "topicName": topic, "exists": exists}
        case SchemaAssertion(subject, schema_id, exists):
            return {"@type": "assert_schema", "subject": subject, "id": schema_id, "exists": exists}
    return _status(entity)


def _status(changed: CommandStatus) -> dict[str, Any]:
    kind, name = changed.entity
    return {
        "@type": "currentStatus",
        "commandId": f"{kind}/{name}/{changed.action}",
        "commandStatus": {"status": SUCCESS, "message": changed.message, "queryId": changed.query_id},
        "commandSequenceNumber": changed.position,
    }


def _sources(listed: SourceList) -> dict[str, Any]:
    if listed.is_extended:
        return _list("source_descriptions", "sourceDescriptions", map(described_source, listed.described))
    name = "streams" if listed.kind is Kind.STREAM else "tables"
    return _list(name, name, map(listed_source, listed.sources))


def _listing(
    listed: TopicList | IndexList | TypeList | VariableList | PropertyList | ErrorList,
) -> dict[str, Any]:
    match listed:
        case ErrorList(errors, counts):
            return {"@type": "errors", "errors": list(map(_error, errors)), "counts": counts}
        case TopicList(topics, is_extended=True):
            return _list("kafka_topics_extended", "topics", map(_extended_topic, topics))
        case TopicList(topics):
            return _list("kafka_topics", "topics", map(_topic, topics))
        case IndexList(indexes):
            return _list("indexes", "indexes", map(_index, indexes))
        case TypeList(types):
            return {"@type": "type_list", "types": {name: type_shape(type_) for name, type_ in sorted(types.items())}}
        case VariableList(variables):
            return _list("variables", "variables", map(_variable, variables.items()))
    return _properties(listed)


def _error(error: QueryError) -> dict[str, Any]:
    """What is not known of it is null."""
    return {
        "time": error.time_ms,
        "queryId": error.query_id,
        "kind": error.kind,
        "topic": error.topic or None,
        "partition": None if error.partition < 0 else error.partition,
        "offset": None if error.offset < 0 else error.offset,
        "message": error.message,
        "part": error.part or None,
        "record": error.raw,
        "times": error.times,
    }


def _topic(topic: Topic) -> dict[str, Any]:
    return {"name": topic.name, "replicaInfo": list(topic.replicas)}


def _extended_topic(topic: Topic) -> dict[str, Any]:
    return {**_topic(topic), "consumerCount": topic.consumers, "consumerGroupCount": topic.groups}


def _index(index: IndexStatus) -> dict[str, Any]:
    return {"name": index.name, "table": index.table, "columns": list(index.columns), "state": str(index.progress)}


def _variable(variable: tuple[str, str]) -> Mapping[str, str]:
    name, value = variable
    return {"name": name, "value": value}


def _properties(listed: PropertyList) -> dict[str, Any]:
    return {
        "@type": "properties",
        "properties": [
            {
                "name": each.name,
                "scope": "KSQL",
                "value": each.value,
                "editable": each.is_editable,
                "level": "QUERY" if each.is_editable else "SERVER",
            }
            for each in listed.properties
        ],
        "overwrittenProperties": [each.name for each in listed.properties if each.is_overridden],
        "defaultProperties": [each.name for each in listed.properties if each.is_default],
    }


def _list(kind: str, member: str, items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"@type": kind, member: list(items)}
