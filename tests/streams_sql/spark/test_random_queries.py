"""Queries made at random on real Spark: what comes of them is what a recomputation from all records gives, as it is in process."""

from __future__ import annotations

import contextlib
import json
import struct
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from streams_sql.plan.nodes import PersistentPlan
from streams_sql.sources import KeyWindow
from streams_sql.spark.broker_access import KafkaAccess
from streams_sql.spark.messages import Event, Progress
from tests.broker import BarnabasBroker
from tests.streams_sql.analysis.catalogues import planned, sources
from tests.streams_sql.local.random_queries import STATEFUL, Outcome, RandomQuery, unordered
from tests.streams_sql.local.random_records import DECLARED, declarations, random_records
from tests.streams_sql.local.statement_runs import Given, Told
from tests.streams_sql.spark.query_runs import DEADLINE_S, Found, QueryRun, Topics
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 70
QUERIES = 3
RECORDS = 40


class Running:
    """One query, whose records are all there before it starts. No record is late: Spark looks for that once in a batch."""

    def __init__(self, run: QueryRun, query: RandomQuery, random: Random) -> None:
        self._run = run
        self._query = query
        self._records = random_records(random, query.reads, RECORDS, null_words=query.null_words)
        topics = {name: run.topic(name) for name in DECLARED}
        self._sink = run.topic("out")
        made = query.statement.replace(" AS ", f" WITH (kafka_topic='{self._sink}') AS ", 1)
        self._plan: PersistentPlan = planned(f"CREATE {made}", sources(*declarations(topics)))
        for source in query.reads:
            mine = [record for record in self._records if record.source == source]
            run.write(topics[source], [(record.key, _payload(record), record.time) for record in mine])
        run.start(self._plan)

    def check_outcome(self) -> None:
        """Final results come with a batch that reads nothing."""
        wanted = self._wanted()
        self._run.settled(len(self._records))
        with contextlib.suppress(AssertionError):
            wait_for(lambda: self._found() == wanted, "the outcome", DEADLINE_S)
        assert self._found() == wanted, f"{self._query.statement} (seed {SEED})"

    def _wanted(self) -> Outcome:
        outcome = self._query.outcome(self._records)
        return outcome if self._query.is_table else unordered(outcome)

    def _found(self) -> Outcome:
        written = sum(event.written_rows for event in self._run.events if isinstance(event, Progress))
        rows = [_told(record, self._plan.sink.key_window) for record in self._run.read(self._sink, written)]
        outcome = self._query.found(rows)
        return outcome if self._query.is_table else unordered(outcome)


def _payload(record: Given) -> bytes | None:
    return None if record.values is None else json.dumps(record.values).encode()


def _told(record: Found, window: KeyWindow | None) -> Told:
    key, bounds = record.key, None
    if window is not None and key is not None:
        if window.size_ms is None:
            end, start = struct.unpack(">qq", key[-16:])
            key, bounds = key[:-16], (start, end)
        else:
            (start,) = struct.unpack(">q", key[-8:])
            key, bounds = key[:-8], (start, start + window.size_ms)
    return Told((None if key is None else key.decode(),), bounds, record.value, record.timestamp)


def test_queries_give_what_their_records_come_to(spark: SparkSession, barnabas: BarnabasBroker, tmp_path: Path) -> None:
    """Side by side."""
    from streams_sql.spark.query_host import QueryHost

    random, hosts, running = Random(SEED), list[QueryHost](), list[Running]()
    try:
        for number, shape in enumerate(random.sample(STATEFUL, QUERIES)):
            events: list[Event] = []
            hosts.append(QueryHost(spark, KafkaAccess(barnabas.address), None, events.append, f"random{number}_"))
            topics = Topics(barnabas.address, f"random-{number}-{tmp_path.name}")
            running.append(Running(QueryRun(hosts[-1], tmp_path / str(number), topics, events), shape(random), random))
        for each in running:
            each.check_outcome()
    finally:
        for host in hosts:
            host.stop_all()
