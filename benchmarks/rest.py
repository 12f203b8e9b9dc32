"""Our REST proxy beside Karapace's, and beside confluent-kafka without a proxy: all in the same run, turn by turn.

    python -m benchmarks.rest                       every row, three times each
    python -m benchmarks.rest --quick               the same with less work each
    python -m benchmarks.rest --rows 'json-*'       some rows
    python -m benchmarks.rest --list                what there is

Karapace is installed from its source, once, with `--karapace FOLDER`; without it the run says so, and goes on. What counts
are the ratios of the medians within one run: load, proxy, registry and broker share the machine, and the absolute figures
move with whatever else runs on it.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import karapace, wrk
from benchmarks.comparison import FAILURES, OURS, Comparison, Contestant
from benchmarks.contestants import Durability
from benchmarks.program import run, usual_options
from benchmarks.proxies import Deployment, OurProxy, Platform, Proxy
from benchmarks.registries import PeerMissing
from benchmarks.rest_rows import FULL, QUICK, ROWS, LoadRow, MemoryRow, Row, Stage
from benchmarks.turns import say, turns

CONDITIONS = (
    "Load, proxy, registry and broker share the machine. All have one {durability} broker of ours, and one registry of ours;",
    "acks=all, no linger. confluent-kafka is the client alone, in Python, with as many records under way. Memory and CPU are",
    "those of the proxy's processes, or of the client's.",
)


@dataclass(frozen=True, slots=True)
class Bare:
    """The client without a proxy."""

    name: str = "bare"
    title: str = "confluent-kafka"


class Run:
    """One run of the program."""

    def __init__(self, found: Comparison, proxies: Sequence[Proxy], stage: Stage, repeat: int) -> None:
        self._comparison = found
        self._proxies = proxies
        self._stage = stage
        self._repeat = repeat

    def load(self, rows: Sequence[LoadRow]) -> None:
        """All proxies stay up for all rows; those that are not asked do not disturb the one that is."""
        with ExitStack() as stack:
            deployments = [stack.enter_context(Deployment(proxy, self._stage.platform)) for proxy in self._proxies]
            for row in rows:
                able = [each for each in deployments if each.proxy.name == OURS or not row.only_ours]
                for deployment in able:
                    self._warm_up(row, deployment)
                for _, contestant in turns([*able, None], self._repeat):
                    self._measure(row, contestant)

    def memory(self, row: MemoryRow) -> None:
        for _, proxy in turns(self._proxies, self._repeat):
            self._comparison.record(row, proxy, partial(row.measure, self._stage, proxy))

    def _warm_up(self, row: LoadRow, deployment: Deployment) -> None:
        try:
            row.measure(self._stage, deployment, self._stage.scale.warm_seconds)
        except FAILURES as failure:
            say(f"warm-up of {deployment.proxy.title} FAILED, {row.name} is measured cold: {failure}")

    def _measure(self, row: LoadRow, deployment: Deployment | None) -> None:
        if deployment is None:
            self._comparison.record(row, Bare(), partial(self._stage.bare, row.bare))
        else:
            measure = partial(row.measure, self._stage, deployment, self._stage.scale.seconds)
            self._comparison.record(row, deployment.proxy, measure)


def arguments() -> argparse.Namespace:
    parser = usual_options(__doc__, "proxy")
    parser.add_argument(
        "--karapace", type=Path, metavar="FOLDER", help="install Karapace from its source in this folder"
    )
    parser.add_argument(
        "--durability", choices=get_args(Durability), default="relaxed", help="what the broker does before it answers"
    )
    return parser.parse_args()


def find_proxies(source: Path | None) -> tuple[list[Proxy], dict[str, str]]:
    """Those that can be had, and why the other cannot."""
    try:
        return [OurProxy(), karapace.find_proxy(source)], {}
    except PeerMissing as missing:
        say(f"Karapace is left out: {missing}")
        return [OurProxy()], {"karapace": str(missing)}


def allow_sockets() -> None:
    """A thousand streams are more files than a process has by default; those that are started inherit the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def compare(options: argparse.Namespace, rows: Sequence[Row], folder: Path) -> Comparison:
    proxies, absent = find_proxies(options.karapace)
    contestants: list[Contestant] = [*proxies, Bare()]
    found = Comparison(contestants, rows, absent=absent)
    with Platform(folder, options.durability) as platform:
        stage = Stage.prepared(platform, QUICK if options.quick else FULL)
        measuring = Run(found, proxies, stage, options.repeat)
        if load_rows := [row for row in rows if isinstance(row, LoadRow)]:
            measuring.load(load_rows)
        for row in rows:
            if isinstance(row, MemoryRow):
                measuring.memory(row)
    return found


def main() -> int:
    options = arguments()
    if not options.list:
        wrk.find()
        allow_sockets()
    conditions = [line.format(durability=options.durability) for line in CONDITIONS]
    settings = {"durability": options.durability}
    return run(options, ROWS, partial(compare, options), conditions, settings=settings)


if __name__ == "__main__":
    sys.exit(main())
