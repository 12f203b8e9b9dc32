"""Our SQL beside Flink's, both in the same run, turn by turn, on one broker of ours and with the same data.

    python -m benchmarks.sql                       every row, three times each
    python -m benchmarks.sql --quick               the same with less work each
    python -m benchmarks.sql --rows 'pull-*'       some rows
    python -m benchmarks.sql --only ours           without Flink
    python -m benchmarks.sql --list                what there is

Flink is installed when it is first asked for, into an environment of its own; where it cannot be had, the run says so and goes on. A
query is started on a topic that is full, and has done when all that must come out of it is in its sink, which is checked; the clock
runs from the statement to the last record. What counts are the ratios of the medians within one run: engines and broker share the
machine, and the absolute figures move with whatever else runs on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import sql_flink, wrk
from benchmarks.comparison import FAILURES, Comparison
from benchmarks.program import run, usual_options
from benchmarks.registries import PeerMissing
from benchmarks.sql_engines import Deployment, Engine, EngineName, OurDeployment, OurEngine
from benchmarks.sql_rows import ROWS, FlowRow, LifeRow, LocalRow, Row, ViewRow
from benchmarks.sql_stage import FULL, QUICK, Stage
from benchmarks.sql_views import Views
from benchmarks.turns import say, turns

CONDITIONS = (
    "Engines, broker, registry and load share the machine; topics have two partitions, those of latency one. Ours has its default",
    "settings. Flink is a session cluster with its default memory, two parts for each query, and a checkpoint each 10 s; its GROUP BY",
    "gathers records for 200 ms, apart from the rows of latency. CPU and memory are those of the engines' processes alone.",
)


class Run:
    """One run of the program."""

    def __init__(self, found: Comparison, engines: Sequence[Engine], stage: Stage, repeat: int) -> None:
        self._comparison = found
        self._engines = engines
        self._stage = stage
        self._repeat = repeat

    def flows(self, rows: Sequence[FlowRow]) -> None:
        """All engines stay up for all rows; the one that is not asked has no query."""
        with ExitStack() as stack:
            deployments = [
                stack.enter_context(engine.deployed(self._stage.site(engine.name))) for engine in self._engines
            ]
            for row in rows:
                able = [each for each in deployments if row.suits(each)]
                for deployment in able:
                    self._warm_up(row, deployment)
                for _, deployment in turns(able, self._repeat):
                    self._comparison.record(row, deployment, partial(row.measure, self._stage, deployment))

    def life(self, row: LifeRow) -> None:
        for _, engine in turns(self._engines, self._repeat):
            self._comparison.record(row, engine, partial(row.measure, self._stage, engine))

    def views(self, rows: Sequence[ViewRow]) -> None:
        wrk.find()
        with OurDeployment(self._stage.site("ours")) as deployment:
            views = Views(self._stage, deployment)
            for row in rows:
                for _, each in turns([deployment], self._repeat):
                    self._comparison.record(row, each, partial(row.measure, views))

    def local(self, rows: Sequence[LocalRow]) -> None:
        engine = OurEngine()
        for row in rows:
            for _ in range(self._repeat):
                self._comparison.record(row, engine, partial(row.measure, self._stage.scale.local_rows))

    def _warm_up(self, row: FlowRow, deployment: Deployment) -> None:
        if row.warm_up is None:
            return
        try:
            row.warm_up(self._stage, deployment)
        except FAILURES as failure:
            say(f"warm-up of {deployment.title} FAILED, {row.name} is measured cold: {failure}")


def arguments() -> argparse.Namespace:
    parser = usual_options(__doc__, "engine")
    parser.add_argument(
        "--only", choices=get_args(EngineName), help="measure one engine alone; there are no ratios then"
    )
    return parser.parse_args()


def find_engines(options: argparse.Namespace) -> tuple[list[Engine], dict[str, str]]:
    """Those that are asked for and can be had, and why the others cannot."""
    engines: list[Engine] = [OurEngine()] if options.only != "flink" else []
    if options.only == "ours":
        return engines, {}
    try:
        return [*engines, sql_flink.find()], {}
    except PeerMissing as missing:
        say(f"Flink is left out: {missing}")
        return engines, {"flink": str(missing)}


def compare(options: argparse.Namespace, rows: Sequence[Row], folder: Path) -> Comparison:
    engines, absent = find_engines(options)
    found = Comparison(engines, rows, absent=absent)
    with Stage(folder, QUICK if options.quick else FULL) as stage:
        measuring = Run(found, engines, stage, options.repeat)
        if flow_rows := [row for row in rows if isinstance(row, FlowRow)]:
            measuring.flows(flow_rows)
        for row in rows:
            if isinstance(row, LifeRow):
                measuring.life(row)
        if (view_rows := [row for row in rows if isinstance(row, ViewRow)]) and options.only != "flink":
            measuring.views(view_rows)
        if options.only != "flink":
            measuring.local([row for row in rows if isinstance(row, LocalRow)])
    return found


def main() -> int:
    options = arguments()
    return run(options, ROWS, partial(compare, options), CONDITIONS)


if __name__ == "__main__":
    sys.exit(main())
