"""Errors as records of a topic."""

from __future__ import annotations

import json
from typing import Any

from streams_sql.engine.queries.error_log import QUERY_FAILED, QueryError
from streams_sql.engine.queries.processing_log import RECORDS_PER_S_MAX, ProcessingLog, ProcessingLogSettings, record_of
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import CreateSource
from streams_sql.plan.records import ProblemKind
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import ConfluentClient, create_topic

BAD = QueryError(5, "Q", ProblemKind.DESERIALIZATION, "no JSON", "t", 1, 7, "value", "ew==")


def test_a_record_is_as_ksqldb_has_it_and_tells_more() -> None:
    assert record_of(BAD) == {
        "logger": "processing.Q",
        "level": "ERROR",
        "time": 5,
        "message": {
            "type": 0,
            "deserializationError": {
                "target": "value",
                "errorMessage": "no JSON",
                "recordB64": "ew==",
                "cause": [],
                "topic": "t",
            },
        },
        "origin": {"queryId": "Q", "topic": "t", "partition": 1, "offset": 7, "times": 1},
        "omitted": 0,
    }


def test_each_kind_has_its_member() -> None:
    kinds = (ProblemKind.PROCESSING, ProblemKind.SERIALIZATION, QUERY_FAILED)
    found = [record_of(QueryError(5, "Q", kind, "m"))["message"] for kind in kinds]
    assert [(message.pop("type"), *message) for message in found] == [
        (1, "recordProcessingError"),
        (3, "serializationError"),
        (4, "kafkaStreamsThreadError"),
    ]


def test_the_stream_can_be_declared_and_has_all_members() -> None:
    text = ProcessingLogSettings("log", stream="ERRORS").stream_statement
    assert text is not None
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    assert [column.name.lower() for column in statement.columns] == list(record_of(BAD))
    assert ProcessingLogSettings("log").stream_statement is None


def test_more_than_fit_into_a_second_are_counted(barnabas: BarnabasBroker, topic: str) -> None:
    create_topic(barnabas.address, topic)
    now_s = [1.0]
    log = ProcessingLog(ProcessingLogSettings(topic), {"bootstrap.servers": barnabas.address}, clock=lambda: now_s[0])
    for _ in range(RECORDS_PER_S_MAX + 3):
        log.write(BAD)
    now_s[0] = 2.0
    log.write(BAD)
    log.stop()
    read = ConfluentClient().consume(barnabas.address, topic, RECORDS_PER_S_MAX + 1)
    written: list[Any] = [json.loads(each.record.value or b"") for each in read]
    assert [record["omitted"] for record in written] == [*[0] * RECORDS_PER_S_MAX, 3]


def test_nothing_is_written_without_a_topic() -> None:
    log = ProcessingLog(ProcessingLogSettings(None), {"bootstrap.servers": "127.0.0.1:1"})
    log.write(BAD)
    log.stop()
