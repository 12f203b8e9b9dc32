"""What is advertised exists, and is what Apache Kafka 4.3.0 advertises."""

from __future__ import annotations

import importlib
import inspect

import pytest

from barnabas.wire import apis
from core_broker.apis.table import SERVED, Served

# Key and range of Apache Kafka 4.3.0's own answer, for what is served here.
KAFKA = {
    0: (0, 13), 1: (4, 18), 2: (1, 11), 3: (0, 13), 8: (2, 10), 9: (1, 10), 10: (0, 6), 11: (0, 9), 12: (0, 4),
    13: (0, 5), 14: (0, 5), 15: (0, 6), 16: (0, 5), 18: (0, 4), 19: (2, 7), 20: (1, 6), 21: (0, 2), 22: (0, 5),
    23: (2, 4), 24: (0, 5), 25: (0, 4), 26: (0, 5), 27: (1, 2), 28: (0, 5), 29: (1, 3), 30: (1, 3), 31: (1, 3),
    32: (1, 4), 33: (0, 2), 34: (1, 2), 35: (1, 5), 37: (0, 3), 38: (1, 3), 39: (1, 2), 40: (1, 2), 41: (1, 3),
    42: (0, 2), 43: (0, 2), 44: (0, 1), 45: (0, 1), 46: (0, 0), 47: (0, 0), 48: (0, 1), 49: (0, 1), 50: (0, 0),
    51: (0, 0), 55: (0, 2), 57: (0, 2), 60: (0, 2), 61: (0, 0), 64: (0, 0), 65: (0, 0), 66: (0, 2), 68: (0, 1),
    69: (0, 1), 74: (0, 1), 75: (0, 0),
}  # fmt: skip


def test_the_ranges_are_kafkas_own() -> None:
    assert {key: (served.min_version, served.max_version) for key, served in SERVED.items()} == KAFKA


@pytest.mark.parametrize(("key", "served"), SERVED.items(), ids=lambda value: apis.API_NAMES.get(value, ""))
def test_each_api_has_its_handler(key: int, served: Served) -> None:
    handle = importlib.import_module(served.module).handle
    assert list(inspect.signature(handle).parameters) == ["broker", "context", "request"]
    assert apis.request_class(key).VERSIONS.high == served.max_version


def test_a_range_covers_its_ends() -> None:
    served = Served(2, 4, "module")
    assert [served.covers(version) for version in range(1, 6)] == [False, True, True, True, False]
