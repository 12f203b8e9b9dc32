"""Our Connect worker beside Apache Kafka's, with Debezium's JDBC sink in it: both in the same run, turn by turn.

    python -m benchmarks.connect                       every row, three times each
    python -m benchmarks.connect --quick               the same with less work each
    python -m benchmarks.connect --rows 'jdbc-*'       some rows
    python -m benchmarks.connect --kafka               on Apache Kafka's broker instead of ours
    python -m benchmarks.connect --list                what there is

Each connector is created through REST, and watched in its target: the clock runs from the first record that is seen there to
the last. Debezium's jars are fetched when they are not there; PostgreSQL is the installed one. What counts are the ratios of
the medians within one run: workers, broker and database share the machine, and the absolute figures move with whatever else
runs on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import connect_debezium
from benchmarks.comparison import FAILURES, Comparison
from benchmarks.connect_rows import ROWS, FlowRow, LifeRow, Row
from benchmarks.connect_stage import FULL, QUICK, Stage
from benchmarks.connect_workers import Deployment, KafkaConnect, OurWorker, Worker, WorkerName
from benchmarks.contestants import Contestant, Ours, default_jars, find_kafka
from benchmarks.program import run, usual_options
from benchmarks.turns import say, turns
from tests.provision.jars import JarError

# A young JVM does a fraction of what a warm one does.
WARM_SHARE = 0.5
CONDITIONS = (
    "Workers, broker ({broker}), registry and PostgreSQL, all with their default settings, share the machine. Rates are those",
    "from the first record to the last, without the start of the connector. Memory and CPU are those of the worker's",
    "processes alone.",
)


class Run:
    """One run of the program."""

    def __init__(self, found: Comparison, workers: Sequence[Worker], stage: Stage, repeat: int) -> None:
        self._comparison = found
        self._workers = workers
        self._stage = stage
        self._repeat = repeat

    def flows(self, rows: Sequence[FlowRow]) -> None:
        """All workers stay up for all rows; the one that is not asked has no connector."""
        with ExitStack() as stack:
            folder = self._stage.folder
            deployments = [
                stack.enter_context(Deployment(worker, self._stage.broker_port, folder)) for worker in self._workers
            ]
            for row in rows:
                able = [each for each in deployments if row.suits(each.worker)]
                for deployment in able:
                    self._warm_up(row, deployment)
                for _, deployment in turns(able, self._repeat):
                    measure = partial(row.measure, self._stage, deployment)
                    self._comparison.record(row, deployment.worker, measure)

    def life(self, row: LifeRow) -> None:
        for _, worker in turns(self._workers, self._repeat):
            self._comparison.record(row, worker, partial(row.measure, self._stage, worker))

    def _warm_up(self, row: FlowRow, deployment: Deployment) -> None:
        try:
            row.measure(self._stage, deployment, WARM_SHARE)
        except FAILURES as failure:
            say(f"warm-up of {deployment.worker.title} FAILED, {row.name} is measured cold: {failure}")


def arguments() -> argparse.Namespace:
    parser = usual_options(__doc__, "worker")
    parser.add_argument(
        "--only", choices=get_args(WorkerName), help="measure one worker alone; there are no ratios then"
    )
    parser.add_argument("--kafka", action="store_true", help="let both workers use Apache Kafka's broker")
    parser.add_argument("--kafka-jars", type=Path, default=default_jars(), help="folder with Apache Kafka's jars")
    return parser.parse_args()


def find_workers(options: argparse.Namespace, folder: Path) -> tuple[list[Worker], dict[str, str]]:
    """Those that are asked for and can be had, and why the others cannot."""
    workers: list[Worker] = [OurWorker()] if options.only != "kafka" else []
    absent: dict[str, str] = {}
    if options.only != "ours":
        try:
            workers.append(find_kafka_connect(options.kafka_jars, folder, absent))
        except FileNotFoundError as missing:
            absent["kafka"] = str(missing)
    for name, reason in absent.items():
        say(f"{name} is left out: {reason}")
    return workers, absent


def find_kafka_connect(jars: Path, folder: Path, absent: dict[str, str]) -> KafkaConnect:
    """With Debezium's sink, if that can be had."""
    kafka = find_kafka(jars, folder)
    try:
        plugins = connect_debezium.plugin_path(folder)
    except JarError as missing:
        absent["debezium"] = str(missing)
        return KafkaConnect(java=kafka.java, jars=kafka.jars)
    return KafkaConnect(java=kafka.java, jars=kafka.jars, plugins=plugins)


def compare(options: argparse.Namespace, rows: Sequence[Row], folder: Path) -> Comparison:
    workers, absent = find_workers(options, folder)
    found = Comparison(workers, rows, absent=absent)
    broker: Contestant = find_kafka(options.kafka_jars, folder) if options.kafka else Ours(folder)
    with Stage(broker, folder, QUICK if options.quick else FULL) as stage:
        measuring = Run(found, workers, stage, options.repeat)
        if flow_rows := [row for row in rows if isinstance(row, FlowRow)]:
            measuring.flows(flow_rows)
        for row in rows:
            if isinstance(row, LifeRow):
                measuring.life(row)
    return found


def main() -> int:
    options = arguments()
    conditions = [line.format(broker="Apache Kafka's" if options.kafka else "ours") for line in CONDITIONS]
    return run(options, ROWS, partial(compare, options), conditions)


if __name__ == "__main__":
    sys.exit(main())
