"""Topics in memory, of one partition each: what was written to them, in the order of all of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from streams_sql.problem import SqlProblem

RECORDS_MAX: Final = 50_000
"""Of one test."""


class Record(NamedTuple):
    topic: str
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


class MemoryTopics:
    def __init__(self) -> None:
        self._topics: dict[str, list[Record]] = {}
        self.history: list[Record] = []
        """All records. Those of topics that were deleted stay: who has read them knows them."""

    def records(self, topic: str) -> list[Record]:
        return self._topics.get(topic, [])

    def append(self, topic: str, key: bytes | None, value: bytes | None, timestamp: int) -> None:
        """SqlProblem where there are too many records already."""
        if len(self.history) >= RECORDS_MAX:
            raise SqlProblem(
                f"There are {RECORDS_MAX} records, which is all that a test may have. Does a query read what it writes?"
            )
        records = self._topics.setdefault(topic, [])
        record = Record(topic, len(records), key, value, timestamp)
        records.append(record)
        self.history.append(record)

    def delete(self, topic: str) -> None:
        self._topics.pop(topic, None)

    def is_there(self, record: Record) -> bool:
        """Whether a record can still be read."""
        records = self._topics.get(record.topic, [])
        return record.offset < len(records) and records[record.offset] is record

    def table(self, topic: str) -> dict[bytes, Record]:
        """The last record of each key, unless it deletes."""
        found: dict[bytes, Record] = {}
        for record in self.records(topic):
            found.pop(record.key or b"", None)
            if record.value is not None:
                found[record.key or b""] = record
        return found
