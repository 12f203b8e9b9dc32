"""Rows with the Java client: Kafka's own ProducerPerformance with its default batch.size of 16 KiB."""

from __future__ import annotations

import random
import re
import string
import subprocess
from functools import partial
from pathlib import Path

from benchmarks.connection import HOST
from benchmarks.contestants import find_java
from benchmarks.job import Figures, LoadFailed
from benchmarks.processes import cpu_seconds
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import at_least, at_most
from benchmarks.wire import Topic

RECORD_BYTES = 1024
RUN_LIMIT_SECONDS = 300
# The client compiles itself meanwhile; the figures are those of the records after them.
WARM_SHARE = 0.4
# The program's own payloads are drawn letter by letter for each record, which costs the client more than sending them.
PAYLOADS = 64
# The last line of its report, the one of the steady state; only summaries have percentiles.
SUMMARY = re.compile(r"([\d.,]+) records/sec .*?([\d.]+) ms avg latency.*?(\d+) ms 50th.*?(\d+) ms 99th")


def parse(report: str) -> Figures:
    found = [match for line in report.splitlines() if (match := SUMMARY.search(line))]
    if not found:
        raise LoadFailed(f"ProducerPerformance printed no summary: {report[-300:]!r}")
    rate, mean, p50, p99 = (float(group.replace(",", "")) for group in found[-1].groups())
    return {"mb_s": rate * RECORD_BYTES / 1e6, "mean_ms": mean, "p50_ms": p50, "p99_ms": p99}


def write_payloads(path: Path, randomness: random.Random) -> None:
    lines = ("".join(randomness.choices(string.ascii_letters, k=RECORD_BYTES)) for _ in range(PAYLOADS))
    path.write_text("\n".join(lines))


def perform(jars: Path, port: int, topic: Topic, records: int, payloads: Path) -> Figures:
    command = [
        *(str(find_java()), "-Xmx512M", "-cp", f"{jars}/*", "org.apache.kafka.tools.ProducerPerformance"),
        *("--topic", topic.name, "--num-records", str(records), "--warmup-records", str(int(records * WARM_SHARE))),
        *("--payload-file", str(payloads), "--throughput", "-1", "--bootstrap-server", f"{HOST}:{port}"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT_SECONDS, check=False)
    if done.returncode:
        raise LoadFailed(f"ProducerPerformance ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    return parse(done.stdout)


def producer_performance(jars: Path, partitions: int, site: Site, scale: Scale) -> Figures:
    """The broker's CPU time is that of the whole run, warm-up included; the rate is that of the steady state."""
    payloads = site.folder / "payloads.txt"
    write_payloads(payloads, random.Random(partitions))
    with site.topic(partitions) as topic:
        before = cpu_seconds(site.pid)
        figures = perform(jars, site.port, topic, scale.java_records, payloads)
        used = cpu_seconds(site.pid) - before
        site.verify(topic, scale.java_records)
    return figures | {"cpu_s_per_gb": used / (scale.java_records * RECORD_BYTES) * 1e9}


def rows(jars: Path) -> tuple[SharedRow, ...]:
    return tuple(
        SharedRow(
            f"java-{partitions}p",
            "relaxed",
            (
                Metric(
                    "mb_s",
                    f"Java ProducerPerformance, 1 KiB, {partitions} partition{'s' if partitions > 1 else ''}",
                    "MB/s",
                    at_least(3.0),
                ),
                Metric("cpu_s_per_gb", "broker CPU", "s/GB", at_most(0.5)),
                Metric("p99_ms", "p99", "ms"),
            ),
            partial(producer_performance, jars, partitions),
        )
        for partitions in (1, 6)
    )
