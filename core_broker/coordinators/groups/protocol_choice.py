"""Which of the offered protocols a classic group uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from barnabas.kernel.java.string_hash import java_hash
from core_broker.coordinators.groups.classic_member import Protocols

_BUCKETS: Final = 16


def choose_protocol(offers: Sequence[Protocols]) -> str:
    """Everybody votes for the first of its protocols that all have. There is one: a member without one does not get in."""
    common = set(offers[0]).intersection(*offers[1:])
    votes = Counter(next(name for name in offer if name in common) for offer in offers)
    most = max(votes.values())
    return min((name for name, count in votes.items() if count == most), key=_place)


def _place(name: str) -> int:
    """Between equals Kafka takes the one that stands first in its hash map."""
    number = java_hash(name) & 0xFFFF_FFFF
    return (number ^ number >> 16) % _BUCKETS
