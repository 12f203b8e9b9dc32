"""What went wrong in a query, found in what Spark tells of it: the cause at the root first, then the rest."""

from __future__ import annotations

import re
from typing import Final

from streams_sql.formats.spark_texts import NEEDS_PYTHON, NEW_SCHEMA
from streams_sql.spark.driver.messages import BadRecord, FailureKind, QueryFailed

DETAILS_CHARACTERS: Final = 8000
BAD_RECORD: Final = "BadRecordError"
"""Begins what a query fails with at a record that cannot be read, where it is told to fail."""

# Where in Spark it happened helps nobody who writes SQL.
_JAVA_FRAMES: Final = re.compile(r"^\s+(?:at |\.\.\. \d+ more).*\n?", re.MULTILINE)
# What Spark adds to a message of ours.
_SQL_STATE: Final = r"(?: SQLSTATE: \w+)?$"
_BAD_RECORD: Final = re.compile(
    rf"{BAD_RECORD}: \[topic=(\S+) partition=(\d+) offset=(\d+)\] (.*?){_SQL_STATE}", re.MULTILINE
)
_NEEDS_PYTHON: Final = re.compile(rf"{NEEDS_PYTHON}: \[partition=(\d+) offset=(\d+)\] (.*?){_SQL_STATE}", re.MULTILINE)
_NEW_SCHEMA: Final = re.compile(rf"{NEW_SCHEMA}: (\d+)")
# The records that a checkpoint speaks of are not there: the topic was deleted, or its retention was faster.
_TOPICS_CHANGED: Final = re.compile(
    r"UnknownTopicOrPartitionException|Some data may have been lost|OffsetOutOfRangeException|RecordsGoneError"
)
_PYTHON_ERROR: Final = re.compile(r"^(?:\w+\.)*(\w+(?:Error|Exception|Missing)): (.+)$", re.MULTILINE)
_CAUSED_BY: Final = re.compile(r"^Caused by: (?:[\w$]+\.)*([\w$]+)(?:: (.*))?$", re.MULTILINE)


def failure(query_id: str, text: str) -> QueryFailed:
    details = _JAVA_FRAMES.sub("", text)[:DETAILS_CHARACTERS]
    if (record := _record(text)) is not None:
        return QueryFailed(query_id, record.reason, details, record)
    if (found := _NEEDS_PYTHON.search(text)) is not None:
        partition, offset, reason = found.groups()
        cause = f"Partition {partition}, offset {offset}: {reason}."
        return QueryFailed(query_id, cause, details, kind=FailureKind.NEEDS_PYTHON)
    if (found := _NEW_SCHEMA.search(text)) is not None:
        number = int(found[1])
        cause = f"A record was written with the schema {number}."
        return QueryFailed(query_id, cause, details, kind=FailureKind.NEW_SCHEMA, schema_id=number)
    kind = FailureKind.TOPICS_CHANGED if _TOPICS_CHANGED.search(text) else FailureKind.ERROR
    return QueryFailed(query_id, root_cause(text), details, kind=kind)


def _record(text: str) -> BadRecord | None:
    match = _BAD_RECORD.search(text)
    if match is None:
        return None
    topic, partition, offset, reason = match.groups()
    return BadRecord(topic, int(partition), int(offset), reason)


def root_cause(text: str) -> str:
    """The last line of a traceback of Python, else the last cause that Java names, else how the text begins."""
    if "Traceback" in text and (errors := _PYTHON_ERROR.findall(text)):
        return ": ".join(errors[-1])
    if causes := _CAUSED_BY.findall(text):
        return ": ".join(filter(None, causes[-1]))
    return text.strip().partition("\n")[0]
