"""What the tests of the log share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core_broker.log.batches import OPENED, kill


@pytest.fixture(autouse=True)
def descriptors_are_given_back() -> Iterator[None]:
    """Many tests end as a crash does, with files open."""
    yield
    while OPENED:
        kill(OPENED.pop())
