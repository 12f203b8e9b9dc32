"""The order in which Java walks a hash table of strings.

Confluent lists differences, and joins keywords, in the order of its hash tables. Ours come in the same order, so that the
first message, which many people read alone, is the same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

TABLE_MIN_BUCKETS = 16
LOAD_MAX_THREE_QUARTERS = 0.75
CACHED_NAMES_MAX = 20_000
_WORD = 0xFFFFFFFF


def hash_order(names: Iterable[str], *, presized_for: int = 0) -> list[str]:
    """Distinct names by their bucket, and within one by their order of arrival.

    `presized_for`: how many names the table was made for, when it was filled from another collection.
    """
    distinct = list(dict.fromkeys(names))
    buckets = TABLE_MIN_BUCKETS
    while buckets < int(presized_for / LOAD_MAX_THREE_QUARTERS) + 1 and presized_for:
        buckets *= 2
    while len(distinct) > buckets * LOAD_MAX_THREE_QUARTERS:
        buckets *= 2
    return sorted(distinct, key=lambda name: _spread(name) & (buckets - 1))


@lru_cache(maxsize=CACHED_NAMES_MAX)
def _spread(name: str) -> int:
    """String.hashCode, with the high half folded in as HashMap does."""
    value = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & _WORD
    return value ^ value >> 16
