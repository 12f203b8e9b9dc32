"""One broker for each test, on a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core_broker.apis.context import AdminBroker


@pytest.fixture
def admin(tmp_path: Path) -> AdminBroker:
    return AdminBroker(tmp_path)
