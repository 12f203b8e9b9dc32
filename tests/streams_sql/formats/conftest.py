"""A registry, and topics that nobody else uses."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from barnabas.kernel.serdes.registry_client import RegistryClient
from streams_sql.formats.serde import RegistryAccess


@pytest.fixture
def access(registry_url: str) -> RegistryAccess:
    return RegistryAccess(registry_url)


@pytest.fixture
def client(registry_url: str) -> Iterator[RegistryClient]:
    with RegistryClient(registry_url) as found:
        yield found


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4().hex}"
