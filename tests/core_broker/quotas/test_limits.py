"""Whose limit applies: the table of Kafka's documentation, and a model of it."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from core_broker.metadata.image import QuotaEntity
from core_broker.quotas import limits
from core_broker.quotas.limits import Client, Limit, Limits

NAMES = ("a", "b")
# The closest first; None is a default, a missing key no part of the entity.
ORDER: list[dict[str, str | None]] = [
    {"user": "a", "client-id": "b"},
    {"user": "a", "client-id": None},
    {"user": "a"},
    {"user": None, "client-id": "b"},
    {"user": None, "client-id": None},
    {"user": None},
    {"client-id": "b"},
    {"client-id": None},
]
SHARED = [("a", "b"), ("a", "b"), ("a", ""), ("a", "b"), ("a", "b"), ("a", ""), ("", "b"), ("", "b")]
OTHERS: list[dict[str, str | None]] = [
    {"user": "b", "client-id": "b"},
    {"user": "a", "client-id": "a"},
    {"user": "b"},
    {"client-id": "a"},
    {"ip": "a"},
    {"ip": None},
]


@given(st.sets(st.integers(0, len(ORDER) - 1)), st.sets(st.sampled_from(range(len(OTHERS)))))
def test_the_closest_entity_wins(present: set[int], others: set[int]) -> None:
    table = Limits(
        [
            *((QuotaEntity.of(ORDER[place]), float(place + 1)) for place in present),
            *((QuotaEntity.of(OTHERS[place]), 100.0) for place in others),
        ]
    )
    if present:
        first = min(present)
        assert table.of("a", "b") == Limit(Client(*SHARED[first]), first + 1)
    else:
        assert table.of("a", "b") is None


def test_a_client_without_an_id_has_what_its_user_has() -> None:
    everything = Limits((QuotaEntity.of(entity), float(place + 1)) for place, entity in enumerate(ORDER))
    assert everything.of("a", "") == Limit(Client("a", ""), 3)
    assert everything.of("other", "") == Limit(Client("other", ""), 6)
    assert Limits([(QuotaEntity.of({"client-id": None}), 5.0)]).of("a", "") is None


def test_what_is_no_number_limits_nobody() -> None:
    table = Limits([(QuotaEntity.of({"user": None}), float("inf")), (QuotaEntity.of({"user": "a"}), float("nan"))])
    assert not table
    assert table.of("a", "b") is None


def test_what_is_remembered_is_bounded() -> None:
    table = Limits([(QuotaEntity.of({"client-id": None}), 5.0)])
    for number in range(limits.RESOLVED_MAX + 10):
        assert table.of("a", str(number)) == Limit(Client("", str(number)), 5.0)
    assert len(table._resolved) <= limits.RESOLVED_MAX


def test_names_with_anything_in_them() -> None:
    strange = ("", "<default>", "a/b", "ü%20", "\0")
    for user, client_id in itertools.product(strange[1:], strange[1:]):
        table = Limits([(QuotaEntity.of({"user": user, "client-id": client_id}), 1.0)])
        assert table.of(user, client_id) == Limit(Client(user, client_id), 1.0)
        assert table.of(user, "other") is None
