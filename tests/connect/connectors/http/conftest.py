"""A service to send records to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connect.connectors.http.service import Service


@pytest.fixture
def service() -> Iterator[Service]:
    own = Service()
    own.start()
    yield own
    own.stop()
