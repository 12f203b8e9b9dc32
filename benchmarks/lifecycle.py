"""Rows of a broker's life: start, memory, and the return after kill -9; and the creation of many topics."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from pathlib import Path

from benchmarks import job
from benchmarks.batch import records_per_batch
from benchmarks.bulk import BIG_BATCH_BYTES, BIG_IN_FLIGHT
from benchmarks.connection import Connection, await_leaders, create_topics, delete_topics
from benchmarks.contestants import Contestant
from benchmarks.job import Child, Figures, Job
from benchmarks.processes import PeakMemory
from benchmarks.rows import Metric, OwnRow, Scale, SharedRow, Site
from benchmarks.spread import at_most
from benchmarks.wire import Topic, UnexpectedAnswer, create_topics_request, created_topics

PARTITIONS = 6
PRODUCERS = 4
SETTLE_SECONDS = 2.0
TOPIC_PARTITIONS = 4
MB = 1e6


def life(contestant: Contestant, folder: Path, scale: Scale) -> Figures:
    """Start on an empty folder, idle, load, kill -9, start again, each measured on the way."""
    running = contestant.start(folder)
    try:
        figures = {"start_s": running.seconds_to_answer}
        time.sleep(SETTLE_SECONDS)
        figures["idle_mb"] = running.resident_bytes() / MB
        (topic,) = create_topics(running.port, ["life"], PARTITIONS)
        site = Site(contestant, running, folder, "relaxed")
        with PeakMemory(running.pid) as memory:
            records = fill(site, topic, scale.log_bytes)
            read = job.run(Job.on("consume", running.port, topic))
        if read["all_records"] != records:
            raise UnexpectedAnswer(f"{contestant.name} acknowledged {records} records and served {read['all_records']}")
        figures["loaded_mb"] = memory.peak_bytes / MB
        figures["log_gb"] = records * 1024 / 1e9
        running.kill()
        running = contestant.start(folder, port=running.port)
        return figures | returned(Site(contestant, running, folder, "relaxed"), topic, records)
    finally:
        running.kill()
        shutil.rmtree(folder, ignore_errors=True)
        os.sync()


def fill(site: Site, topic: Topic, log_bytes: int) -> int:
    """Several producers at once; returns the records, all of which the broker holds."""
    share = log_bytes // PRODUCERS // (records_per_batch(1024, BIG_BATCH_BYTES) * 1024)
    options = {"count": share, "batch_bytes": BIG_BATCH_BYTES, "in_flight": BIG_IN_FLIGHT, "broker_pid": site.pid}
    producers = [Child(Job.on("produce", site.port, topic, **options)) for _ in range(PRODUCERS)]
    try:
        records = sum(int(producer.outcome().figures["all_records"]) for producer in producers)
    finally:
        for producer in producers:
            producer.stop()
    site.verify(topic, records)
    return records


def returned(site: Site, topic: Topic, records: int) -> Figures:
    """After the restart: when every partition takes a record again, and that nothing acknowledged is gone (a kill is no power cut)."""
    began = time.monotonic()
    with Connection(site.port) as connection:
        await_leaders(connection, [topic])
    written = job.run(Job.on("one in flight", site.port, topic, count=topic.partitions))
    writable = time.monotonic() - began
    site.verify(topic, records + written["all_records"])
    answered = site.running.seconds_to_answer
    return {"restart_s": answered, "restart_writable_s": answered + writable}


def create_many(site: Site, scale: Scale) -> Figures:
    prefix = f"many-{uuid.uuid4().hex[:6]}"
    names = [f"{prefix}-{index}" for index in range(scale.topics)]
    frame = create_topics_request(names, TOPIC_PARTITIONS, {})
    os.sync()
    with Connection(site.port) as connection:
        began = time.monotonic()
        answer = connection.ask(frame)
        answered = time.monotonic() - began
        topics = created_topics(answer)
        await_leaders(connection, topics)
        usable = time.monotonic() - began
    began = time.monotonic()
    delete_topics(site.port, topics)
    deleted = time.monotonic() - began
    site.await_deletion(prefix)
    return {"answered_s": answered, "usable_s": usable, "deleted_s": deleted}


ROWS = (
    OwnRow(
        "life",
        (
            Metric("start_s", "start on an empty folder, exec to first Metadata answer", "s", at_most(0.1)),
            Metric("idle_mb", "resident memory, idle", "MB", at_most(0.125)),
            Metric("loaded_mb", "resident memory, highest under load", "MB", at_most(0.125)),
            Metric("restart_s", "restart after kill -9 to first Metadata answer", "s", at_most(0.2)),
            Metric("restart_writable_s", "… until all 6 partitions are written", "s", at_most(0.2)),
            Metric("log_gb", "… with a log of", "GB"),
        ),
        life,
    ),
)

# Two thousand deleted partitions keep a broker busy for a while: this row comes after all others of its stage.
LAST_ROWS = (
    SharedRow(
        "many-topics",
        "relaxed",
        (
            Metric("answered_s", "create 500 topics of 4 partitions in one request", "s"),
            Metric("usable_s", "… until every partition has a leader", "s"),
            Metric("deleted_s", "delete them in one request", "s"),
        ),
        create_many,
    ),
)
