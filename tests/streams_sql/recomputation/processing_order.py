"""The order in which a query processes records: at each step the earliest of those that are first in their partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from tests.streams_sql.recomputation.queries import Scan
from tests.streams_sql.recomputation.sources import Record


def merged(records: Iterable[Record], scans: Sequence[Scan]) -> list[Record]:
    """Of records with equal timestamps, those of tables come first, then those of the source that the query names first, then those of
    the lowest partition. A record that is earlier than the one before it in its partition follows that one directly."""
    ranks = _ranks(scans)
    partitions = defaultdict[tuple[str, int], list[Record]](list)
    for record in records:
        if record.source in ranks:
            partitions[record.source, record.partition].append(record)
    heads = [
        (of_partition[0].time, ranks[source], partition, source, 0)
        for (source, partition), of_partition in partitions.items()
    ]
    heapify(heads)
    order = []
    while heads:
        _, rank, partition, source, offset = heappop(heads)
        of_partition = partitions[source, partition]
        order.append(of_partition[offset])
        if offset + 1 < len(of_partition):
            heappush(heads, (of_partition[offset + 1].time, rank, partition, source, offset + 1))
    return order


def _ranks(scans: Sequence[Scan]) -> Mapping[str, tuple[int, int]]:
    ranks: dict[str, tuple[int, int]] = {}
    for place, scan in enumerate(scans):
        ranks.setdefault(scan.source.name, (0 if scan.is_table else 1, place))
    return ranks
