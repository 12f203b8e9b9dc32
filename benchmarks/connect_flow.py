"""One measurement: a connector is created, and what it does is watched from the first record to the last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from benchmarks.connect_api import ConnectApi
from benchmarks.job import Figures, LoadFailed
from benchmarks.processes import cpu_seconds

PROBE_SECONDS = 0.02
CHECK_SECONDS = 1.0
LIMIT_SECONDS = 300
# Clocks of the kernel are coarse: a short stretch may seem to cost nothing.
LEAST_CPU_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Flow:
    """A connector, and how far it is. The clock stops when `records` have arrived; then `verify` looks at what is there."""

    connector: str
    config: Mapping[str, str]
    records: int
    count: Callable[[], int]
    verify: Callable[[], None]
    probe_seconds: float = PROBE_SECONDS


class RunningWorker(Protocol):
    @property
    def api(self) -> ConnectApi: ...

    @property
    def pid(self) -> int: ...


class Sample(NamedTuple):
    at_s: float
    records: int
    cpu_s: float


def run(flow: Flow, worker: RunningWorker, share: float = 1.0) -> Figures:
    """The figures of the whole flow, or of the first part of it."""
    with worker.api.connector(flow.connector, flow.config):
        first, last = watch(flow, worker, int(flow.records * share))
        if share == 1:
            flow.verify()
    return figures(first, last)


def watch(flow: Flow, worker: RunningWorker, records: int) -> tuple[Sample, Sample]:
    """When the first records were seen, and when as many as are wanted had arrived."""
    began = checked = time.monotonic()
    first: Sample | None = None
    while True:
        count = flow.count()
        now = time.monotonic()
        if count and first is None:
            first = Sample(now, count, cpu_seconds(worker.pid))
        if count >= records and first is not None:
            return first, Sample(now, count, cpu_seconds(worker.pid))
        if now - checked > CHECK_SECONDS:
            worker.api.check(flow.connector)
            checked = now
        if now - began > LIMIT_SECONDS:
            raise TimeoutError(f"{count:,} of {records:,} records arrived in {LIMIT_SECONDS} s")
        time.sleep(flow.probe_seconds)


def figures(first: Sample, last: Sample) -> Figures:
    """Those of the records between two moments: the start of connector and task is not in them."""
    records = last.records - first.records
    if not records:
        raise LoadFailed(f"all {last.records:,} records arrived at once: too few to be timed")
    used = max(last.cpu_s - first.cpu_s, LEAST_CPU_SECONDS)
    return {"records_s": records / (last.at_s - first.at_s), "cpu_us": used / records * 1e6, "records": records}
