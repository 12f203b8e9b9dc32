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
import json
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import comparison, karapace, wrk
from benchmarks.comparison import FAILURES, OURS, Comparison, Contestant
from benchmarks.contestants import Durability
from benchmarks.proxies import Deployment, OurProxy, Platform, Proxy
from benchmarks.registries import PeerMissing
from benchmarks.rest_rows import FULL, QUICK, ROWS, LoadRow, MemoryRow, Row, Stage
from benchmarks.turns import LEAST_REPEATS, choose, say, turns
from tests.provision.cache import cache_root

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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="rows by name or pattern")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    parser.add_argument("--repeat", type=int, default=LEAST_REPEATS, help="measurements of each row on each proxy")
    parser.add_argument("--quick", action="store_true", help="less work per measurement")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every single measurement to this file")
    parser.add_argument(
        "--karapace", type=Path, metavar="FOLDER", help="install Karapace from its source in this folder"
    )
    parser.add_argument(
        "--durability", choices=get_args(Durability), default="relaxed", help="what the broker does before it answers"
    )
    parser.add_argument("--folder", type=Path, default=cache_root() / "benchmarks", help="where data is kept meanwhile")
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
        run = Run(found, proxies, stage, options.repeat)
        if load_rows := [row for row in rows if isinstance(row, LoadRow)]:
            run.load(load_rows)
        for row in rows:
            if isinstance(row, MemoryRow):
                run.memory(row)
    return found


def main() -> int:
    # A run that is told to stop takes its proxies and its data with it.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = arguments()
    if options.list:
        sys.stdout.write("\n".join(row.name for row in ROWS) + "\n")
        return 0
    rows = choose(ROWS, options.rows or ["*"])
    wrk.find()
    allow_sockets()
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="run-", ignore_cleanup_errors=True) as folder:
        found = compare(options, rows, Path(folder))
    settings = {
        "quick": options.quick,
        "repeat": options.repeat,
        "durability": options.durability,
        "seconds": round(time.monotonic() - began),
    }
    conditions = [line.format(durability=options.durability) for line in CONDITIONS]
    sys.stdout.write(comparison.page(found, settings, conditions))
    if options.json:
        options.json.write_text(json.dumps(comparison.document(found, settings), indent=1) + "\n")
    return 1 if found.results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
