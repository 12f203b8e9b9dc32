"""Rows of throughput: a topic is filled and read back, in big batches and in small ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from benchmarks import job
from benchmarks.batch import records_per_batch
from benchmarks.job import Figures, Job
from benchmarks.rows import Metric, Scale, SharedRow, Site
from benchmarks.spread import Target, at_least, at_most

BIG_BATCH_BYTES = 1_000_000  # librdkafka's limit
SMALL_BATCH_BYTES = 16_384  # the Java producer's default batch.size
# Bytes under way, not requests, are what keeps a broker busy; both clients allow at least five requests.
BIG_IN_FLIGHT = 5
SMALL_IN_FLIGHT = 32
SMALL_GATHER = 8
WARM_SHARE = 0.1
PRODUCE_CPU = at_most(0.5)
CONSUME_CPU = at_most(1.5)
CONSUME = at_least(1.0, goal=1.2)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is sent."""

    record_bytes: int
    batch_bytes: int
    partitions: int
    acks: int = -1

    @property
    def big(self) -> bool:
        return self.batch_bytes == BIG_BATCH_BYTES

    @property
    def name(self) -> str:
        acks = "" if self.acks == -1 else f"-acks{self.acks}"
        return f"{self._size}-{'big' if self.big else '16k'}-{self.partitions}p{acks}".replace(" ", "").lower()

    @property
    def title(self) -> str:
        batches = "1 MB batches" if self.big else "16 KiB batches"
        partitions = "1 partition" if self.partitions == 1 else f"{self.partitions} partitions"
        return f"{self._size}, {batches}, {partitions}, acks={'all' if self.acks == -1 else self.acks}"

    @property
    def _size(self) -> str:
        return "1 KiB" if self.record_bytes == 1024 else f"{self.record_bytes} B"


def fill_and_read(shape: Shape, site: Site, scale: Scale) -> Figures:
    per_batch = records_per_batch(shape.record_bytes, shape.batch_bytes)
    payload = scale.big_bytes if shape.big else scale.small_batch_bytes
    if shape.record_bytes < 1024:
        payload //= 2
    batches = max(1, payload // (per_batch * shape.record_bytes))
    options = {"broker_pid": site.pid, "record_bytes": shape.record_bytes, "batch_bytes": shape.batch_bytes}
    with site.topic(shape.partitions) as topic:
        produced = job.run(
            Job.on(
                "produce",
                site.port,
                topic,
                acks=shape.acks,
                count=batches,
                warm_count=max(1, int(batches * WARM_SHARE)),
                in_flight=BIG_IN_FLIGHT if shape.big else SMALL_IN_FLIGHT,
                gather=1 if shape.big else SMALL_GATHER,
                **options,
            )
        )
        site.verify(topic, produced["all_records"])
        passes = max(1, round(scale.consumed_bytes / (produced["all_records"] * shape.record_bytes)))
        consumed = job.run(Job.on("consume", site.port, topic, count=passes, **options))
    produced_figures = {f"produce_{key}": value for key, value in produced.items()}
    return produced_figures | {f"consume_{key}": value for key, value in consumed.items()}


def row(shape: Shape, produce: Target) -> SharedRow:
    kind = "big" if shape.big else "16k"
    metrics = (
        Metric("produce_mb_s", f"produce {shape.title}", "MB/s", produce, f"produce_{kind}_mb_s"),
        Metric("produce_cpu_s_per_gb", "broker CPU", "s/GB", PRODUCE_CPU, f"produce_{kind}_cpu_s_per_gb"),
        Metric("consume_mb_s", f"consume {shape.title}", "MB/s", CONSUME, f"consume_{kind}_mb_s"),
        Metric("consume_cpu_s_per_gb", "broker CPU", "s/GB", CONSUME_CPU, f"consume_{kind}_cpu_s_per_gb"),
    )
    return SharedRow(shape.name, "relaxed", metrics, partial(fill_and_read, shape))


ROWS = tuple(
    row(shape, target)
    for batch_bytes, target in ((BIG_BATCH_BYTES, at_least(1.5)), (SMALL_BATCH_BYTES, at_least(3.0)))
    for shape in (
        Shape(1024, batch_bytes, 1),
        Shape(1024, batch_bytes, 6),
        Shape(1024, batch_bytes, 1, acks=1),
        Shape(100, batch_bytes, 1),
        Shape(100, batch_bytes, 6),
    )
)
