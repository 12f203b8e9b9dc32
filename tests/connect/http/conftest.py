"""One worker for all of these tests: each takes connectors and topics of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker import BarnabasBroker
from tests.connect.http import connectors
from tests.connect_service import ConnectProcess

VARIABLE = "CONNECT_HTTP_TESTS_PASSWORD"
LINES = 3


@pytest.fixture(scope="session")
def worker(barnabas: BarnabasBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectProcess]:
    settings = {
        "plugin.path": connectors.__file__,
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    service = ConnectProcess(tmp_path_factory.mktemp("http"), barnabas.address, "http-tests", settings=settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "from-the-environment")
        service.start()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def source(worker: ConnectProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A file source that runs and has read its file; tests look at it and leave it as it is."""
    name = "looked-at"
    file = tmp_path_factory.mktemp("source") / "lines.txt"
    file.write_text("line\n" * LINES)
    worker.create(name, source_config(file))
    worker.wait_for_tasks(name, ["RUNNING"])
    yield name
    worker.call("DELETE", f"/connectors/{name}")


@pytest.fixture
def name(worker: ConnectProcess, topic: str) -> Iterator[str]:
    """A name for a connector, which is deleted afterwards."""
    yield topic
    worker.call("DELETE", f"/connectors/{topic}")


def source_config(file: Path) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "tasks.max": "1", "file": str(file), "topic": "http-tests-lines"}
