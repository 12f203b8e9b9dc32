"""Persistent queries on real Spark, through the server."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from streams_sql.plan.nodes import PersistentPlan
from tests.sql_service import SqlProcess
from tests.streams_sql.recomputation.case_topics import CaseTopics, SinkReader
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.local_host import case_plan
from tests.streams_sql.recomputation.outcomes import Outcome
from tests.streams_sql.recomputation.queries import Select
from tests.streams_sql.recomputation.recomputation import Mode, recomputed
from tests.streams_sql.recomputation.sink_rows import sink_outcome
from tests.streams_sql.recomputation.sources import Record
from tests.streams_sql.recomputation.spark_disturbance import disturb, parts
from tests.waiting import wait_for

TOGETHER: Final = 6
"""Queries that run at the same time."""
BATCHES_MAX: Final = 8
"""Of one query: each takes a fraction of a second."""
SHARDS: Final = ("1", "1", "2", "3")
"""Into how many shards the state of a query goes, if its operators have one key."""
QUIET_S: Final = 10.0
"""A query that has read everything and has written nothing for so long writes nothing more."""
QUIET_AFTER_KILL_S: Final = 180.0
"""The same where it is not known how much was read, since what was killed had not reported it: another start of Spark takes a while."""
DEADLINE_S: Final = 400.0
_READ: Final = re.compile(r'^streams_sql_query_records_read_total\{query="([^"]+)"\} (\S+)', re.MULTILINE)
_LAG: Final = re.compile(r'^streams_sql_query_lag_records\{query="([^"]+)"\} (\S+)', re.MULTILINE)


@dataclass(slots=True)
class Running:
    """A query on the server, from its statement until its result is known. `rest` are records that are still to be written."""

    case: Case
    plan: PersistentPlan
    topics: dict[str, str]
    sink_partitions: int
    expected: Outcome
    first: tuple[Record, ...]
    rest: tuple[Record, ...]
    query_id: str = ""
    written: int = -1
    changed_s: float = 0.0

    @property
    def sink(self) -> str:
        return self.topics[""]


class SparkHost:
    """Runs several queries at the same time, with batches of different sizes and different numbers of shards. A query has finished when its topic holds what is expected,
    or when it has read everything and has written nothing for a while. With `is_disturbed`, inputs are paused and processes are killed
    meanwhile; queries then write exactly once."""

    mode = Mode.PERSISTENT

    def __init__(self, service: SqlProcess, topics: CaseTopics, is_disturbed: bool = False) -> None:
        self._service = service
        self._topics = topics
        self._is_disturbed = is_disturbed
        self._guarantee = "exactly_once_v2" if is_disturbed else "at_least_once"
        self._reader = SinkReader(topics.address)

    def takes(self, query: Select) -> bool:
        return True

    def close(self) -> None:
        self._reader.close()

    def outcomes(self, cases: list[Case]) -> Iterator[Outcome | Exception]:
        for first in range(0, len(cases), TOGETHER):
            yield from self._together(cases[first : first + TOGETHER])

    def _together(self, cases: list[Case]) -> list[Outcome | Exception]:
        started = [self._started(case) for case in cases]
        try:
            for each in started:
                if isinstance(each, Running) and each.rest:
                    self._write_rest(each)
            was_killed = self._is_disturbed and disturb(self._service, Random(cases[0].seed))
            return [each if isinstance(each, Exception) else self._outcome(each, was_killed) for each in started]
        finally:
            for each in started:
                if isinstance(each, Running):
                    self._remove(each)

    def _started(self, case: Case) -> Running | Exception:
        try:
            plan, random = case_plan(case), Random(case.seed)
            partitions = random.randint(1, 3)
            first, rest = parts(case, random) if self._is_disturbed else (case.records, ())
            expected = recomputed(case.query, case.records)
            topics = self._topics.create(case, partitions)
            running = Running(case, plan, topics, partitions, expected, first, rest)
            self._topics.write(case, topics, first)
            self._reader.add(running.sink, partitions)
            self._service.execute("".join(each.statement(topics[each.name]) for each in case.sources))
            least = max(len(case.records) // BATCHES_MAX, 1)
            running.query_id = self._service.start_query(
                case.query.statement(_made(case), running.sink, partitions),
                sql_batch_max_records=str(random.choice((least, 2 * least, 1_000_000))),
                spark_sql_shuffle_partitions=random.choice(SHARDS),
                processing_guarantee=self._guarantee,
            )
        except Exception as error:  # noqa: BLE001 - it is the outcome
            return error
        return running

    def _write_rest(self, running: Running) -> None:
        """While the query is paused: what it sees when it resumes has no gaps."""
        wait_for(
            lambda: self._records_read(running.query_id) >= len(running.first),
            f"{running.query_id} to read {len(running.first)} records",
            DEADLINE_S,
        )
        self._service.execute(f"PAUSE {running.query_id};")
        self._topics.write(running.case, running.topics, running.rest)
        self._service.execute(f"RESUME {running.query_id};")

    def _outcome(self, running: Running, was_killed: bool) -> Outcome | Exception:
        begun_s = time.monotonic()
        while True:
            self._reader.read()
            records = self._reader.records(running.sink)
            found = sink_outcome(running.plan, running.case.query, records)
            has_read_all = self._has_read_all(running, was_killed)
            if (has_read_all or was_killed) and not running.expected.difference(found):
                return found
            if not (has_read_all or was_killed) or len(records) != running.written:
                running.written, running.changed_s = len(records), time.monotonic()
            if time.monotonic() - running.changed_s > (QUIET_S if has_read_all else QUIET_AFTER_KILL_S):
                return found
            if time.monotonic() - begun_s > DEADLINE_S:
                query = self._service.query(running.query_id)
                return TimeoutError(f"not finished: {query['state']}: {query.get('queryErrors')}")

    def _has_read_all(self, running: Running, was_killed: bool) -> bool:
        """A query that failed and was started again may not have reported all that it has read, but knows that nothing is left. After a
        kill, some records are read twice."""
        metrics = self._service.get("/metrics").text
        if not was_killed and _number(_READ, metrics, running.query_id) >= len(running.case.records):
            return True
        return not running.rest and _number(_LAG, metrics, running.query_id) == 0

    def _records_read(self, query_id: str) -> float:
        return _number(_READ, self._service.get("/metrics").text, query_id)

    def _remove(self, running: Running) -> None:
        self._reader.remove(running.sink, running.sink_partitions)
        kind = "TABLE" if running.plan.sink.is_table else "STREAM"
        text = f"TERMINATE {running.query_id};" if running.query_id else ""
        text += f"DROP {kind} IF EXISTS {_made(running.case)};"
        for source in running.case.sources:
            text += f"DROP {'TABLE' if source.is_table else 'STREAM'} IF EXISTS {source.name};"
        self._service.execute(text)
        self._topics.delete(running.topics)


def _number(pattern: re.Pattern[str], metrics: str, query_id: str) -> float:
    """The value of a metric of a query; -1 where it has none yet."""
    return float(dict(pattern.findall(metrics)).get(query_id, "-1"))


def _made(case: Case) -> str:
    return f"made_{case.seed}"
