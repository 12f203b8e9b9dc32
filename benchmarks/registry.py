"""Our Schema Registry beside Apicurio Registry and Karapace: all started in the same run, loaded by wrk, turn by turn.

    python -m benchmarks.registry                       every row, three times each
    python -m benchmarks.registry --quick               the same with less work each, and no more than 1,000 schemas
    python -m benchmarks.registry --rows 'get-*'        some rows
    python -m benchmarks.registry --growth              ours alone, with 1,000, 10,000 and 50,000 schemas
    python -m benchmarks.registry --list                what there is

Apicurio and a Java runtime for it are fetched when they are not there; Karapace is installed from its source, once, with
`--karapace FOLDER`. A peer that cannot be had is left out, and the run says why. What counts are the ratios of the medians
within one run: load and registries share the machine, and the absolute figures move with whatever else runs on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import get_args

from benchmarks import apicurio, karapace, wrk
from benchmarks.comparison import FAILURES, Comparison
from benchmarks.program import run, usual_options
from benchmarks.registries import Deployment, Name, OurRegistry, PeerMissing, Registry
from benchmarks.registry_rows import FULL, LIFE_ROWS, LOAD_ROWS, QUICK, LifeRow, LoadRow, Row, Scale, Site
from benchmarks.turns import say, turns

QUICK_ROWS = ("get-*", "post-*", "life-1000")
USUAL_ROWS = (*QUICK_ROWS, "life-10000")
GROWTH_ROWS = ("life-*",)
LEAST_WARM_ROUNDS = 2
MOST_WARM_ROUNDS = 8
WARM_WHEN_BELOW = 1.1  # of the requests of the round before
CONDITIONS = (
    "Load, registry and broker share the machine. Registries with a topic have a broker of ours each, which syncs",
    "before it answers; acks=all. Memory and CPU are those of the registry's processes, without the broker's.",
)


class Run:
    """One run of the program."""

    def __init__(self, registries: Sequence[Registry], comparison: Comparison, scale: Scale, repeat: int) -> None:
        self._registries = registries
        self._comparison = comparison
        self._scale = scale
        self._repeat = repeat

    def life(self, row: LifeRow) -> None:
        for turn, registry in turns(self._registries, self._repeat):
            folder = registry.home / f"{row.name}-{turn}"
            self._comparison.record(row, registry, partial(row.measure, registry, folder))

    def load(self, rows: Sequence[LoadRow]) -> None:
        """All registries stay up for all rows; those that are not asked do not disturb the one that is."""
        if not rows:
            return
        with ExitStack() as stack:
            sites: list[Site] = []
            for registry in self._registries:
                try:
                    sites.append(Site.filled(stack.enter_context(Deployment(registry, registry.home / "load"))))
                except FAILURES as failure:
                    self._comparison.results.failures[rows[0].name] = (
                        f"{registry.title} before the first row: {failure}"
                    )
                    say(f"{registry.title} FAILED before the first row, and is not measured: {failure}")
            for site in sites:
                self._warm_up(site, rows)
            for row in rows:
                for _, site in turns(sites, self._repeat):
                    measure = partial(row.measure, site, row.connections, self._scale.seconds)
                    self._comparison.record(row, site.deployment.registry, measure)

    def _warm_up(self, site: Site, rows: Sequence[LoadRow]) -> None:
        """A young JVM answers a fraction of what a warm one does, so: until a round is hardly better than the one before."""
        title, before = site.deployment.registry.title, 0.0
        for turn in range(1, MOST_WARM_ROUNDS + 1):
            try:
                answered = sum(row.measure(site, row.connections, self._scale.warm_seconds)["requests"] for row in rows)
            except FAILURES as failure:
                say(f"warm-up of {title} FAILED, its rows are measured cold: {failure}")
                return
            say(f"warm-up {turn} of {title}: {answered:,.0f} requests")
            if turn >= LEAST_WARM_ROUNDS and answered < before * WARM_WHEN_BELOW:
                return
            before = answered


def arguments() -> argparse.Namespace:
    parser = usual_options(__doc__, "registry", "less work per measurement, and no rows of many schemas")
    parser.add_argument("--growth", action="store_true", help="ours alone: how it fares as its schemas become more")
    parser.add_argument("--only", choices=get_args(Name), help="measure one registry alone; there are no ratios then")
    parser.add_argument(
        "--karapace", type=Path, metavar="FOLDER", help="install Karapace from its source in this folder"
    )
    return parser.parse_args()


def find_contestants(options: argparse.Namespace, folder: Path) -> tuple[list[Registry], dict[str, str]]:
    """Those that can be had, and why the others cannot."""
    finders: dict[Name, Callable[[], Registry]] = {
        "ours": lambda: OurRegistry(folder / "ours"),
        "apicurio": lambda: apicurio.find(folder / "apicurio"),
        "karapace": lambda: karapace.find(folder / "karapace", options.karapace),
    }
    found: list[Registry] = []
    absent: dict[str, str] = {}
    only = "ours" if options.growth else options.only
    for name, find in finders.items():
        if only in (None, name):
            try:
                found.append(find())
            except PeerMissing as missing:
                absent[name] = str(missing)
                say(f"{name} is left out: {missing}")
    return found, absent


def compare(options: argparse.Namespace, rows: Sequence[Row], folder: Path) -> Comparison:
    contestants, absent = find_contestants(options, folder)
    found = Comparison(contestants, rows, absent=absent)
    measuring = Run(contestants, found, QUICK if options.quick else FULL, options.repeat)
    measuring.load([row for row in rows if isinstance(row, LoadRow)])
    for row in rows:
        if isinstance(row, LifeRow):
            measuring.life(row)
    return found


def main() -> int:
    options = arguments()
    if not options.list:
        wrk.find()
    rows: list[Row] = [*LOAD_ROWS, *LIFE_ROWS]
    usual = GROWTH_ROWS if options.growth else QUICK_ROWS if options.quick else USUAL_ROWS
    return run(options, rows, partial(compare, options), CONDITIONS, usual=usual)


if __name__ == "__main__":
    sys.exit(main())
