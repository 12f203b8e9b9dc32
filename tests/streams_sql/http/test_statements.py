"""Statements over HTTP: what each kind answers, member by member as clients of ksqlDB read it, and what is told of failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streams_sql.engine.failures import AssertionFailed, ConnectRefused, NeedsQueryEndpoint, StatementFailed
from streams_sql.engine.queries.query_status import PushStatus, QueryEvent, QueryState, QueryStatus
from streams_sql.engine.statements.entities import (
    Acknowledgement,
    CommandStatus,
    ConnectorCreation,
    ConnectorDeletion,
    ConnectorDescription,
    ConnectorList,
    ConnectorPluginList,
    ConnectorSummary,
    Entity,
    FunctionDescription,
    FunctionList,
    Property,
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
from streams_sql.formats.registered import RegistryNotConfigured
from streams_sql.functions.library import LIBRARY
from streams_sql.language.statements import Kind
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import Column
from streams_sql.sql_types import BIGINT, INTEGER, STRING, Array
from tests.streams_sql.http.conftest import Stage
from tests.streams_sql.http.sample_sources import COUNTS, ORDERS, STATUS

KSQL_JSON = "application/vnd.ksql.v1+json"

RUNNING = {
    "queryString": "CREATE TABLE COUNTS AS …;",
    "sinks": ["COUNTS"],
    "sinkKafkaTopics": ["COUNTS"],
    "id": "CTAS_COUNTS_2",
    "statusCount": {"RUNNING": 1},
    "queryType": "PERSISTENT",
    "state": "RUNNING",
}


def plain(type_: str) -> dict[str, Any]:
    return {"type": type_, "fields": None, "memberSchema": None}


ID_FIELD = {"name": "ID", "schema": plain("INTEGER"), "type": "KEY"}
N_FIELD = {"name": "N", "schema": plain("BIGINT")}
ORDERS_FIELDS = [
    ID_FIELD,
    {"name": "PRICE", "schema": {**plain("DECIMAL"), "parameters": {"precision": 6, "scale": 2}}},
    {
        "name": "ADDRESS",
        "schema": {
            "type": "STRUCT",
            "fields": [
                {"name": "CITY", "schema": plain("STRING")},
                {"name": "CODES", "schema": {**plain("ARRAY"), "memberSchema": plain("INTEGER")}},
            ],
            "memberSchema": None,
        },
    },
    {
        "name": "H",
        "schema": {
            **plain("ARRAY"),
            "memberSchema": {
                "type": "STRUCT",
                "fields": [
                    {"name": "KEY", "schema": plain("STRING")},
                    {"name": "VALUE", "schema": plain("BYTES")},
                ],
                "memberSchema": None,
            },
        },
        "type": "HEADER",
    },
    {"name": "TRACE", "schema": plain("BYTES"), "type": "HEADER", "headerKey": "trace"},
]


def entity(stage: Stage, answer: Entity) -> dict[str, Any]:
    """What one statement is answered with, without what all have."""
    stage.engine.answers = [StatementResult("SHOW IT;", answer)]
    (found,) = stage.post("/ksql", {"ksql": "SHOW IT;"}).json
    assert found.pop("statementText") == "SHOW IT;"
    assert found.pop("warnings") == []
    assert isinstance(found, dict)
    return found


# --- what statements answer ---


def test_a_change_tells_its_id_its_status_and_its_position(stage: Stage) -> None:
    changed = CommandStatus(
        ("table", "COUNTS"), "create", "Created query with ID CTAS_COUNTS_2", 2, "CTAS_COUNTS_2", ("slow",)
    )
    stage.engine.answers = [
        StatementResult("CREATE TABLE COUNTS AS …;", changed),
        StatementResult("SET 'a'='b';", Acknowledgement()),
    ]
    answer = stage.post("/ksql", {"ksql": "CREATE TABLE COUNTS AS …; SET 'a'='b';"})
    assert answer.headers["content-type"] == KSQL_JSON
    assert answer.json == [
        {
            "@type": "currentStatus",
            "statementText": "CREATE TABLE COUNTS AS …;",
            "commandId": "table/COUNTS/create",
            "commandStatus": {
                "status": "SUCCESS",
                "message": "Created query with ID CTAS_COUNTS_2",
                "queryId": "CTAS_COUNTS_2",
            },
            "commandSequenceNumber": 2,
            "warnings": [{"message": "slow"}],
        }
    ]


def test_what_was_there_already_is_a_warning(stage: Stage) -> None:
    """Java's client takes it for success by the beginning of the message."""
    message = "Cannot add stream 'S': A stream with the same name already exists"
    assert entity(stage, StatementWarning(message)) == {"@type": "warning_entity", "message": message}


def test_the_end_of_a_push_query(stage: Stage) -> None:
    assert entity(stage, PushQueryEnd("transient_S_1")) == {
        "@type": "terminate_query",
        "queryId": "transient_S_1",
        "wasTerminated": True,
    }


def test_lists_of_sources(stage: Stage) -> None:
    assert entity(stage, SourceList(Kind.STREAM, (ORDERS,))) == {
        "@type": "streams",
        "streams": [
            {
                "type": "STREAM",
                "name": "ORDERS",
                "topic": "orders",
                "keyFormat": "KAFKA",
                "valueFormat": "JSON",
                "isWindowed": False,
            }
        ],
    }
    tables = entity(stage, SourceList(Kind.TABLE, (COUNTS,)))
    assert tables["@type"] == "tables"
    assert tables["tables"][0]["isWindowed"] is True
    described = SourceDescription(COUNTS, (), (STATUS,), is_extended=True)
    extended = entity(stage, SourceList(Kind.TABLE, (COUNTS,), (described,), is_extended=True))
    assert extended["@type"] == "source_descriptions"
    assert extended["sourceDescriptions"][0]["name"] == "COUNTS"


def test_lists_of_queries(stage: Stage) -> None:
    push = PushStatus("transient_ORDERS_1", "SELECT * FROM ORDERS EMIT CHANGES;")
    assert entity(stage, QueryList((STATUS,), (push,))) == {
        "@type": "queries",
        "queries": [
            RUNNING,
            {
                "queryString": "SELECT * FROM ORDERS EMIT CHANGES;",
                "sinks": [],
                "sinkKafkaTopics": [],
                "id": "transient_ORDERS_1",
                "statusCount": {"RUNNING": 1},
                "queryType": "PUSH",
                "state": "RUNNING",
            },
        ],
    }
    described = QueryDescription("Q", "…", (), frozenset(), (), (), "plan")
    extended = entity(stage, QueryList((STATUS,), (), (described,), is_extended=True))
    assert extended["@type"] == "query_descriptions"
    assert [query["id"] for query in extended["queryDescriptions"]] == ["Q"]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (QueryState.STARTING, "RUNNING"),
        (QueryState.PAUSED, "PAUSED"),
        (QueryState.ERROR, "ERROR"),
        (QueryState.UNRESPONSIVE, "UNRESPONSIVE"),
    ],
)
def test_states_are_those_that_clients_know(stage: Stage, state: QueryState, told: str) -> None:
    (query,) = entity(stage, QueryList((QueryStatus("Q", "…", COUNTS, state),)))["queries"]
    assert (query["state"], query["statusCount"]) == (told, {told: 1})


def test_a_query_that_is_built_in_the_place_of_another_one_names_it(stage: Stage) -> None:
    listed = entity(stage, QueryList((STATUS, replace(STATUS, id="CTAS_COUNTS_3", rebuilds=STATUS.id))))
    assert listed["queries"] == [RUNNING, {**RUNNING, "id": "CTAS_COUNTS_3", "rebuilds": STATUS.id}]


def test_a_source_is_described_with_its_columns(stage: Stage) -> None:
    found = entity(stage, SourceDescription(ORDERS, (STATUS,), ()))
    assert found["@type"] == "sourceDescription"
    assert found["sourceDescription"] == {
        "name": "ORDERS",
        "windowType": None,
        "readQueries": [RUNNING],
        "writeQueries": [],
        "fields": ORDERS_FIELDS,
        "type": "STREAM",
        "timestamp": "AT",
        "statistics": "",
        "errorStats": "",
        "extended": False,
        "keyFormat": "KAFKA",
        "valueFormat": "JSON",
        "topic": "orders",
        "partitions": 0,
        "replication": 0,
        "statement": "CREATE STREAM ORDERS …;",
        "queryOffsetSummaries": [],
        "sourceConstraints": [],
        "clusterStatistics": [],
        "clusterErrorStats": [],
    }


def test_a_windowed_table_is_described_at_length(stage: Stage) -> None:
    described = SourceDescription(
        COUNTS, (), (STATUS,), is_extended=True, partitions=4, replicas=3, statistics="lag: 0"
    )
    found = entity(stage, described)["sourceDescription"]
    assert found["windowType"] == "TUMBLING"
    assert (found["partitions"], found["replication"], found["extended"]) == (4, 3, True)
    assert found["statistics"] == "lag: 0"
    assert found["writeQueries"] == [RUNNING]


def test_a_query_is_described_with_both_plans(stage: Stage) -> None:
    described = QueryDescription(
        id="CTAS_COUNTS_2",
        statement="CREATE TABLE COUNTS AS …;",
        columns=(Column("ID", INTEGER), Column("N", BIGINT)),
        key=frozenset({"ID"}),
        sources=("ORDERS",),
        sinks=("COUNTS",),
        plan="our plan",
        topology="Spark's plan",
        state=QueryState.ERROR,
        window="TUMBLING",
        properties={"auto.offset.reset": "earliest"},
        errors=(QueryEvent(1_600, "no such topic"),),
    )
    found = entity(stage, described)
    assert found["@type"] == "queryDescription"
    assert found["queryDescription"] == {
        "id": "CTAS_COUNTS_2",
        "statementText": "CREATE TABLE COUNTS AS …;",
        "windowType": "TUMBLING",
        "fields": [ID_FIELD, N_FIELD],
        "sources": ["ORDERS"],
        "sinks": ["COUNTS"],
        "topology": "Spark's plan",
        "executionPlan": "our plan",
        "overriddenProperties": {"auto.offset.reset": "earliest"},
        "ksqlHostQueryStatus": {"127.0.0.1:8088": "ERROR"},
        "queryType": "PERSISTENT",
        "queryErrors": [{"timestamp": 1_600, "errorMessage": "no such topic", "type": "UNKNOWN"}],
        "tasksMetadata": [],
        "consumerGroupId": "",
        "state": "ERROR",
    }


def test_lists_of_topics(stage: Stage) -> None:
    topic = Topic("orders", (3, 3), consumers=4, groups=2)
    assert entity(stage, TopicList((topic,))) == {
        "@type": "kafka_topics",
        "topics": [{"name": "orders", "replicaInfo": [3, 3]}],
    }
    assert entity(stage, TopicList((topic,), is_extended=True)) == {
        "@type": "kafka_topics_extended",
        "topics": [{"name": "orders", "replicaInfo": [3, 3], "consumerCount": 4, "consumerGroupCount": 2}],
    }


def test_functions(stage: Stage) -> None:
    names = ("COUNT", "EXPLODE", "UCASE")
    functions = tuple(found for name in names if (found := LIBRARY.find(name)) is not None)
    listed = entity(stage, FunctionList(functions))
    assert listed["@type"] == "function_names"
    assert [(each["name"], each["type"]) for each in listed["functions"]] == [
        ("COUNT", "AGGREGATE"),
        ("EXPLODE", "TABLE"),
        ("UCASE", "SCALAR"),
    ]
    assert set(listed["functions"][0]) == {"name", "type", "category"}
    described = entity(stage, FunctionDescription(functions[2]))
    assert set(described) == {"@type", "name", "description", "author", "version", "path", "functions", "type"}
    assert described["@type"] == "describe_function"
    (overload,) = described["functions"]
    assert set(overload) == {"arguments", "returnType", "description"}
    assert overload["returnType"] == "STRING"
    assert [(each["type"], each["isVariadic"]) for each in overload["arguments"]] == [("STRING", False)]


def test_properties_variables_and_types(stage: Stage) -> None:
    properties = (
        Property("auto.offset.reset", "earliest", is_overridden=True, is_editable=True),
        Property("ksql.service.id", "default_", is_default=True),
    )
    assert entity(stage, PropertyList(properties)) == {
        "@type": "properties",
        "properties": [
            {"name": "auto.offset.reset", "scope": "KSQL", "value": "earliest", "editable": True, "level": "QUERY"},
            {"name": "ksql.service.id", "scope": "KSQL", "value": "default_", "editable": False, "level": "SERVER"},
        ],
        "overwrittenProperties": ["auto.offset.reset"],
        "defaultProperties": ["ksql.service.id"],
    }
    assert entity(stage, VariableList({"v": "1"})) == {
        "@type": "variables",
        "variables": [{"name": "v", "value": "1"}],
    }
    assert entity(stage, TypeList({"N": INTEGER, "A": Array(STRING)})) == {
        "@type": "type_list",
        "types": {
            "A": {
                "type": "ARRAY",
                "fields": None,
                "memberSchema": {"type": "STRING", "fields": None, "memberSchema": None},
            },
            "N": {"type": "INTEGER", "fields": None, "memberSchema": None},
        },
    }


def test_connectors(stage: Stage) -> None:
    created = ConnectorCreation("c", "source", {"a": "b"}, ({"connector": "c", "task": 0},))
    assert entity(stage, created) == {
        "@type": "connector_info",
        "info": {"name": "c", "config": {"a": "b"}, "tasks": [{"connector": "c", "task": 0}], "type": "source"},
    }
    assert entity(stage, ConnectorDeletion("c")) == {"@type": "drop_connector", "connectorName": "c"}
    listed = ConnectorList((ConnectorSummary("c", "sink", "x.Y", "PAUSED"), ConnectorSummary("d")))
    assert entity(stage, listed) == {
        "@type": "connector_list",
        "connectors": [
            {"name": "c", "type": "sink", "className": "x.Y", "state": "PAUSED"},
            {"name": "d", "type": "unknown", "className": None, "state": None},
        ],
    }
    plugin = {"class": "x.Y", "type": "sink", "version": "1"}
    assert entity(stage, ConnectorPluginList((plugin,))) == {
        "@type": "connector_plugins_list",
        "connectorsPlugins": [{"className": "x.Y", "type": "sink", "version": "1"}],
    }
    status = {
        "name": "c",
        "connector": {"state": "RUNNING", "worker_id": "w"},
        "tasks": [{"id": 0, "state": "FAILED", "worker_id": "w", "trace": "why"}],
        "type": "sink",
    }
    assert entity(stage, ConnectorDescription("x.Y", status, (), ("t",))) == {
        "@type": "connector_description",
        "connectorClass": "x.Y",
        "status": {
            "name": "c",
            "connector": {"state": "RUNNING", "worker_id": "w", "msg": None},
            "tasks": [{"id": 0, "state": "FAILED", "worker_id": "w", "msg": "why"}],
            "type": "sink",
        },
        "sources": [],
        "topics": ["t"],
    }


def test_what_was_asserted(stage: Stage) -> None:
    assert entity(stage, TopicAssertion("t", exists=False)) == {
        "@type": "assert_topic",
        "topicName": "t",
        "exists": False,
    }
    assert entity(stage, SchemaAssertion("s", None, exists=True)) == {
        "@type": "assert_schema",
        "subject": "s",
        "id": None,
        "exists": True,
    }


def test_secrets_of_connectors_are_not_shown(stage: Stage) -> None:
    text = "CREATE SINK CONNECTOR C WITH ('a.password'='hush');"
    stage.engine.answers = [StatementResult(text, StatementWarning("Connector C already exists"))]
    assert "hush" not in str(stage.post("/ksql", {"ksql": text}).json)
    stage.engine.failure = StatementFailed(text, SqlProblem("Validation error", Position(1, 34)))
    answer = stage.post("/ksql", {"ksql": text})
    assert (answer.json["message"], "hush" in str(answer.json)) == ("line 1:34: Validation error", False)


# --- failures ---


def test_statements_before_one_that_fails_are_told(stage: Stage) -> None:
    done = StatementResult("CREATE STREAM A …;", CommandStatus(("stream", "A"), "create", "Stream created", 1))
    stage.engine.failure = StatementFailed("DROP STREAM B;", SqlProblem("Source B does not exist."), [done])
    answer = stage.post("/ksql", {"ksql": "CREATE STREAM A …; DROP STREAM B;"})
    assert answer.status == 400
    assert answer.json["@type"] == "statement_error"
    assert (answer.json["error_code"], answer.json["message"]) == (40001, "Source B does not exist.")
    assert answer.json["statementText"] == "DROP STREAM B;"
    assert [each["commandId"] for each in answer.json["entities"]] == ["stream/A/create"]


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (NeedsQueryEndpoint("Send it to /query."), 400, 40002),
        (RegistryNotConfigured("The format AVRO needs a schema registry."), 428, 42801),
        (AssertionFailed("Topic t does not exist"), 417, 41700),
        (ConnectRefused(409, "Connector C already exists"), 409, 40900),
    ],
    ids=str,
)
def test_some_failures_have_codes_of_their_own(stage: Stage, problem: SqlProblem, status: int, code: int) -> None:
    stage.engine.failure = StatementFailed("X;", problem)
    answer = stage.post("/ksql", {"ksql": "X;"})
    assert (answer.status, answer.json["error_code"]) == (status, code)


def test_a_request_that_comes_after_a_change_waits_for_it(stage: Stage) -> None:
    assert stage.post("/ksql", {"ksql": "SHOW IT;", "commandSequenceNumber": 7}).status == 200
    late = stage.post("/ksql", {"ksql": "SHOW IT;", "commandSequenceNumber": 8})
    assert (late.status, late.json["error_code"]) == (503, 50301)
    assert stage.engine.reached == [7, 8]


def test_statements_need_a_type_that_there_is(stage: Stage) -> None:
    assert stage.post("/ksql", {"ksql": "SHOW IT;"}, accept="text/html").status == 406
    answer = stage.post("/ksql", {"ksql": "SHOW IT;"}, accept="application/json")
    assert answer.headers["content-type"] == "application/json"
