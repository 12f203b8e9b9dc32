"""Our broker beside Apache Kafka 4.3.0: both started in the same run, loaded by the same client, turn by turn.

    python -m benchmarks.broker                       every row, three times each
    python -m benchmarks.broker --quick               the main rows, with less work each
    python -m benchmarks.broker --rows life 'java-*'  some rows
    python -m benchmarks.broker --list                what there is

Each row is measured on one broker, then on the other, and again, with the order turned round each time. What counts is the ratio of the
medians within one run: client and brokers share the machine, and the absolute figures move with whatever else runs on it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import (
    bulk,
    cleaning,
    durable,
    floor,
    groups,
    java,
    librdkafka,
    lifecycle,
    report,
    responsiveness,
    tools,
)
from benchmarks.contestants import Contestant, Durability, Ours, Pair, default_jars, find_kafka
from benchmarks.job import Figures, LoadFailed
from benchmarks.processes import cpu_seconds
from benchmarks.program import usual_options
from benchmarks.report import Results
from benchmarks.rows import FULL, QUICK, OwnRow, Row, Scale, SharedRow, Site
from benchmarks.turns import choose, say, turns
from benchmarks.wire import UnexpectedAnswer

# A quick run leaves out the rows that vary what another one shows.
QUICK_ROWS = (
    *("life", "tools-list"),
    *("1kib-big-1p", "1kib-big-6p", "1kib-16k-1p", "1kib-16k-6p"),
    *("java-1p", "one-in-flight", "end-to-end", "beside-saturating", "beside-cleaning"),
    *("groups-*", "commits-64", "transactions-16"),
    "durable-64-*",
)
SPARE_BYTES = 4 << 30
TOUCHED_BYTES = 8 << 30
LEAST_WARM_ROUNDS = 2
MOST_WARM_ROUNDS = 8
WARM_WHEN_ABOVE = 0.9  # of the CPU time of the round before
WARM_ROWS: dict[Durability, tuple[SharedRow, ...]] = {
    "relaxed": (bulk.ROWS[0], bulk.ROWS[5], responsiveness.ROWS[0]),
    "durable": durable.ROWS[4:5],
}
# What a measurement may fail with; a row that fails is reported, and the others go on.
FAILURES = (LoadFailed, UnexpectedAnswer, OSError, TimeoutError)


class Run:
    """One run of the program."""

    def __init__(self, contestants: list[Contestant], scale: Scale, repeat: int, folder: Path) -> None:
        self._contestants = contestants
        self._scale = scale
        self._repeat = repeat
        self._folder = folder
        self.results = Results()

    def floor(self) -> None:
        figures = floor.measure(self._folder, self._scale)
        self.results.floor.append(figures)
        say("floor: " + ", ".join(f"{key} {report.number(value)}" for key, value in figures.items()))

    def own(self, row: OwnRow) -> None:
        for number, contestant in turns(self._contestants, self._repeat):
            folder = contestant.home / f"{row.name}-{number}"
            self._record(row, contestant, partial(row.measure, contestant, folder, self._scale))

    def shared(self, durability: Durability, rows: Sequence[SharedRow]) -> None:
        if not rows:
            return
        with Pair(self._contestants, durability) as pair:
            sites = {
                contestant.name: Site(
                    contestant, pair.running[contestant.name], contestant.home / durability, durability
                )
                for contestant in self._contestants
            }
            for site in sites.values():
                try:
                    self._warm_up(site)
                except FAILURES as failure:
                    say(f"warm-up of {site.contestant.name} FAILED, its rows are measured cold: {failure}")
            for row in rows:
                for _, contestant in turns(self._contestants, self._repeat):
                    self._record(row, contestant, partial(row.measure, sites[contestant.name], self._scale))

    def _warm_up(self, site: Site) -> None:
        """A young JVM spends several times the CPU time of a warm one, so: until a round is no cheaper than the one before."""
        before = float("inf")
        for number in range(1, MOST_WARM_ROUNDS + 1):
            used = cpu_seconds(site.pid)
            for row in WARM_ROWS[site.durability]:
                row.measure(site, QUICK)
            used = cpu_seconds(site.pid) - used
            say(f"warm-up {number} of {site.contestant.name} ({site.durability}): {used:.2f} CPU seconds")
            if number >= LEAST_WARM_ROUNDS and used > before * WARM_WHEN_ABOVE:
                return
            before = used

    def _record(self, row: Row, contestant: Contestant, measure: Callable[[], Figures]) -> None:
        try:
            figures = measure()
        except FAILURES as failure:
            self.results.failures[row.name] = f"{contestant.name}: {type(failure).__name__}: {failure}"
            say(f"{row.name} {contestant.name} FAILED: {failure}")
            return
        self.results.add(row.name, contestant.name, figures)
        shown = ", ".join(f"{m.key} {report.number(figures[m.key])}" for m in row.metrics if m.key in figures)
        say(f"{row.name} {contestant.name}: {shown}")


def touch_memory() -> None:
    """A virtual machine may get its memory only when it is first touched: whoever writes first to the page cache would pay."""
    available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    subprocess.run([sys.executable, "-c", f"b'1' * {min(available // 2, TOUCHED_BYTES)}"], check=True)


def check_disk(folder: Path, scale: Scale) -> None:
    needed = max(scale.log_bytes, 2 * scale.big_bytes) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            f"{folder} has {free / 1e9:.1f} GB free and this run needs {needed / 1e9:.1f}: "
            "choose another place with --folder, or less work with --quick"
        )


def arguments() -> argparse.Namespace:
    parser = usual_options(__doc__, "broker", "the main rows only, and less work per measurement")
    parser.add_argument("--only", choices=("ours", "kafka"), help="measure one broker alone; there are no ratios then")
    parser.add_argument("--no-floor", action="store_true", help="leave the floor of the bare machine out")
    parser.add_argument("--kafka-jars", type=Path, default=default_jars(), help="folder with Apache Kafka's jars")
    return parser.parse_args()


def measure(options: argparse.Namespace, chosen: Sequence[Row], folder: Path) -> Results:
    contestants: list[Contestant] = []
    if options.only != "kafka":
        contestants.append(Ours(folder / "ours"))
    if options.only != "ours":
        contestants.append(find_kafka(options.kafka_jars, folder / "kafka"))
    run = Run(contestants, QUICK if options.quick else FULL, options.repeat, folder)
    touch_memory()
    shared = [row for row in chosen if isinstance(row, SharedRow)]
    # The floor is measured before, between and after, since the machine is not the same all the time.
    measure_floor: Callable[[], None] = (lambda: None) if options.no_floor else run.floor
    measure_floor()
    for row in chosen:
        if isinstance(row, OwnRow):
            run.own(row)
    for durability in get_args(Durability):
        run.shared(durability, [row for row in shared if row.stage == durability])
        measure_floor()
    return run.results


def main() -> int:
    # A run that is told to stop takes its brokers and its data with it.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = arguments()
    rows: list[Row] = [
        *lifecycle.ROWS,
        *tools.rows(options.kafka_jars),
        *bulk.ROWS,
        *java.rows(options.kafka_jars),
        *librdkafka.ROWS,
        *responsiveness.ROWS,
        *cleaning.ROWS,
        *groups.ROWS,
        *lifecycle.LAST_ROWS,
        *durable.ROWS,
    ]
    if options.list:
        sys.stdout.write("\n".join(row.name for row in rows) + "\n")
        return 0
    chosen = choose(rows, options.rows or (QUICK_ROWS if options.quick else ["*"]))
    options.folder.mkdir(parents=True, exist_ok=True)
    check_disk(options.folder, QUICK if options.quick else FULL)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="run-", ignore_cleanup_errors=True) as folder:
        results = measure(options, chosen, Path(folder))
    settings = {"quick": options.quick, "repeat": options.repeat, "seconds": round(time.monotonic() - began)}
    sys.stdout.write(report.page(results, chosen, settings))
    if options.json:
        options.json.write_text(json.dumps(report.document(results, chosen, settings), indent=1) + "\n")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
