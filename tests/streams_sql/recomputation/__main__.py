"""Runs random queries and compares what comes of them with a recomputation:

    python -m tests.streams_sql.recomputation --host local --seed 1 --queries 1000

Prints the seed of each query that fails, and the smallest case that fails as well. The exit code is 1 if any fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from tests.broker import KEEPS_RECORDS, BarnabasBroker
from tests.service_process import ServiceProcess
from tests.sql_service import SqlProcess
from tests.streams_sql.recomputation.bounded_host import BoundedHost
from tests.streams_sql.recomputation.case_topics import CaseTopics
from tests.streams_sql.recomputation.cases import RECORDS, Case, random_case
from tests.streams_sql.recomputation.comparison import Host, Verdict, verdict, verdicts
from tests.streams_sql.recomputation.local_host import LocalHost
from tests.streams_sql.recomputation.shrinking import shrunk
from tests.streams_sql.recomputation.spark_host import TOGETHER, SparkHost

PROGRESS_INTERVAL: Final = 100
"""Queries after which it is printed how far the run is."""
SHRINK_ATTEMPTS: Final = {"local": 3000, "bounded": 500, "spark": 60}
"""How many smaller cases are tried: each takes a second or more on Spark."""


def main() -> int:
    arguments = _arguments()
    counts, begun_s = Counter[str](), time.monotonic()
    sizes = [arguments.records] if arguments.records else RECORDS
    with ExitStack() as stack:
        host = stack.enter_context(_host(arguments.host, arguments.disturb))
        for found in _verdicts(host, arguments.seed, arguments.queries, sizes):
            counts["rejected" if found.is_rejected else "wrong" if found.is_wrong else "right"] += 1
            if counts.total() % PROGRESS_INTERVAL == 0:
                _print(f"{dict(counts)} after {time.monotonic() - begun_s:.0f} s")
            if found.is_wrong:
                _report(found, host, 0 if arguments.no_shrink else SHRINK_ATTEMPTS[arguments.host])
    _print(f"{dict(counts)} in {time.monotonic() - begun_s:.0f} s, seeds from {arguments.seed} on")
    return 1 if counts["wrong"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare random queries with a recomputation of their results.")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first query; the others follow it")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--host", choices=sorted(SHRINK_ATTEMPTS), default="local")
    parser.add_argument("--records", type=int, help="how many records each query reads; default: a few")
    parser.add_argument("--disturb", action="store_true", help="kill Spark and the server, and pause inputs")
    parser.add_argument("--no-shrink", action="store_true", help="report failing cases as they are")
    return parser.parse_args()


def _verdicts(host: Host, seed: int, queries: int, sizes: list[int] | tuple[int, ...]) -> Iterator[Verdict]:
    """Of as many queries as are asked for that the host has."""
    group: list[Case] = []
    left = queries
    while left:
        case = random_case(seed, sizes)
        seed += 1
        if host.takes(case.query):
            group.append(case)
            left -= 1
        if group and (len(group) == TOGETHER or not left):
            yield from verdicts(host, group)
            group = []


def _report(found: Verdict, host: Host, attempts: int) -> None:
    case = found.case
    _print(f"seed {case.seed}: {len(case.records)} records: {case.query.text}")
    _print("\n".join(found.difference))
    if attempts:
        smallest = shrunk(case, lambda smaller: verdict(host, smaller).is_wrong, attempts)
        _print(f"the smallest case that fails:\n{verdict(host, smallest)}\n")


@contextmanager
def _host(name: str, is_disturbed: bool) -> Iterator[Host]:
    if name == "local":
        yield LocalHost()
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        broker = BarnabasBroker(Path(folder) / "broker", settings=KEEPS_RECORDS)
        stack.enter_context(_running(broker))
        topics = CaseTopics(broker.address)
        if name == "bounded":
            yield BoundedHost(topics)
            return
        service = SqlProcess(Path(folder) / "sql", broker.address, "")
        stack.enter_context(_running(service))
        yield stack.enter_context(closing(SparkHost(service, topics, is_disturbed)))


@contextmanager
def _running(service: ServiceProcess) -> Iterator[None]:
    service.start()
    try:
        yield
    finally:
        service.stop()


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
