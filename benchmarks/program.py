"""What the programs have in common that measure us beside others: their options, the folder of a run, and what it leaves behind."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks import comparison
from benchmarks.comparison import Comparison, Row
from benchmarks.report import Json
from benchmarks.turns import LEAST_REPEATS, choose
from tests.provision.cache import cache_root

RowT = TypeVar("RowT", bound=Row)


def usual_options(
    description: str | None, measured: str, quick: str = "less work per measurement"
) -> argparse.ArgumentParser:
    """`measured` is what the program compares: a broker, a worker …"""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=[], metavar="NAME", help="rows by name or pattern")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    parser.add_argument(
        "--repeat", type=int, default=LEAST_REPEATS, help=f"measurements of each row on each {measured}"
    )
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every single measurement to this file")
    parser.add_argument("--folder", type=Path, default=cache_root() / "benchmarks", help="where data is kept meanwhile")
    return parser


def run(
    options: argparse.Namespace,
    rows: Sequence[RowT],
    compare: Callable[[Sequence[RowT], Path], Comparison],
    conditions: Sequence[str],
    *,
    usual: Sequence[str] = ("*",),
    settings: Mapping[str, Json] | None = None,
) -> int:
    """Compare the rows that are asked for, `usual` if none are, in a folder of the run's own; returns the exit status."""
    # A run that is told to stop takes its servers and its data with it.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if options.list:
        sys.stdout.write("\n".join(row.name for row in rows) + "\n")
        return 0
    chosen = choose(rows, options.rows or usual)
    options.folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="run-", ignore_cleanup_errors=True) as folder:
        found = compare(chosen, Path(folder))
    seconds = round(time.monotonic() - began)
    told = {"quick": options.quick, "repeat": options.repeat, **(settings or {}), "seconds": seconds}
    sys.stdout.write(comparison.page(found, told, conditions))
    if options.json:
        options.json.write_text(json.dumps(comparison.document(found, told), indent=1) + "\n")
    return 1 if found.results.failures else 0
