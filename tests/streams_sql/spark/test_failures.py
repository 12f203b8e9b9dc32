"""Causes found in what Spark tells."""

from __future__ import annotations

import pytest

from streams_sql.spark.driver.failures import failure
from streams_sql.spark.driver.messages import BadRecord, FailureKind

PYTHON = """org.apache.spark.api.python.PythonException: An exception was thrown from the Python worker: Traceback (most recent call last):
  File "stages.py", line 1, in write
{}
 SQLSTATE: 38000
\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:665)
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""
JAVA = """org.apache.spark.SparkException: Job aborted
\tat org.apache.spark.X.y(X.scala:1)
Caused by: org.apache.spark.sql.kafka010.KafkaIllegalStateException: Some data may have been lost
\t... 49 more
Caused by: org.apache.kafka.clients.consumer.OffsetOutOfRangeException: Fetch position 0 is out of range
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (PYTHON.format("TimeoutError: 3 records could not be written"), "TimeoutError: 3 records could not be written"),
        (JAVA, "OffsetOutOfRangeException: Fetch position 0 is out of range"),
        ("[SOME_CONDITION] it is so\nand so", "[SOME_CONDITION] it is so"),
    ],
    ids=["python", "java", "spark"],
)
def test_the_root_cause_comes_first(text: str, cause: str) -> None:
    failed = failure("q", text)
    assert (failed.cause, failed.record) == (cause, None)
    assert "\tat " not in failed.details


def test_the_record_is_told_at_which_a_query_failed() -> None:
    bad = "streams_sql.spark.jobs.stages.BadRecordError: [topic=in partition=2 offset=17] no JSON: it ends"
    failed = failure("q", PYTHON.format(bad))
    assert (failed.cause, failed.record) == ("no JSON: it ends", BadRecord("in", 2, 17, "no JSON: it ends"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (JAVA, FailureKind.TOPICS_CHANGED),
        ("org.apache.kafka.common.errors.UnknownTopicOrPartitionException: not here", FailureKind.TOPICS_CHANGED),
        (PYTHON.format("streams_sql.spark.sources.ranges.RecordsGoneError: they are gone"), FailureKind.TOPICS_CHANGED),
        (PYTHON.format("ValueError: no"), FailureKind.ERROR),
    ],
    ids=["offsets", "topic", "range", "else"],
)
def test_failures_that_another_start_puts_right_are_known(text: str, kind: FailureKind) -> None:
    assert failure("q", text).kind is kind


RAISED = "org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] {} SQLSTATE: P0001\n\tat org.apache.spark.X.y(X.scala:1)\n"


def test_what_sql_of_ours_has_raised_is_understood() -> None:
    python = failure("q", RAISED.format("NeedsPython: [partition=1 offset=7] the JSON has a negative zero"))
    assert (python.kind, python.cause) == (
        FailureKind.NEEDS_PYTHON,
        "Partition 1, offset 7: the JSON has a negative zero.",
    )
    schema = failure("q", RAISED.format("NewSchema: 42"))
    assert (schema.kind, schema.schema_id) == (FailureKind.NEW_SCHEMA, 42)
    bad = failure("q", RAISED.format("BadRecordError: [topic=in partition=2 offset=17] it is no JSON"))
    assert bad.record == BadRecord("in", 2, 17, "it is no JSON")
