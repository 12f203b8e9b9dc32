"""The metrics of single partitions, which are many: only where `metrics.per.partition` asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from core_broker.metrics.families import Sample, gauges

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from core_broker.broker import Broker
    from core_broker.log.partition_log import PartitionLog

PARTITIONS_PER_TURN: Final = 200

_NAMES: Final = (
    ("kafka_log_log_size", "Bytes of a log."),
    ("kafka_log_log_numlogsegments", "Segments of a log."),
    ("kafka_log_log_logstartoffset", "The first offset of a log."),
    ("kafka_log_log_logendoffset", "The next offset of a log."),
)


def partition_families(broker: Broker) -> Iterator[Metric | None]:
    """Of every log that is open; None gives the event loop its turn."""
    columns: list[list[Sample]] = [[] for _ in _NAMES]
    for count, partition in enumerate(list(broker.topics.opened()), start=1):
        labels = {"topic": partition.topic, "partition": str(partition.index)}
        for column, value in zip(columns, _values(partition.log), strict=True):
            column.append((labels, value))
        if count % PARTITIONS_PER_TURN == 0:
            yield None
    for (name, doc), samples in zip(_NAMES, columns, strict=True):
        yield gauges(name, doc, samples)


def _values(log: PartitionLog) -> tuple[int, int, int, int]:
    return log.size_bytes, len(log.segments), log.log_start_offset, log.log_end_offset
