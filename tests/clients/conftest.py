"""The clients, each behind the same two methods, and the Java tools."""

from pathlib import Path

import pytest

from tests.clients.aiokafka_client import AiokafkaClient
from tests.clients.confluent_client import ConfluentClient
from tests.clients.java_client import JavaClient, JavaTools
from tests.clients.kafka_python_client import KafkaPythonClient
from tests.clients.kcat_client import KcatClient
from tests.clients.records import Client, Library

LIBRARIES: dict[str, Library] = {
    library.name: library for library in (ConfluentClient(), KafkaPythonClient(), AiokafkaClient())
}


@pytest.fixture(scope="session")
def java_tools(java: Path, kafka_jars: Path) -> JavaTools:
    return JavaTools(java, kafka_jars)


@pytest.fixture(params=list(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Library:
    """Each client that is a Python library."""
    return LIBRARIES[request.param]


@pytest.fixture(params=[*LIBRARIES, "kcat"])
def client(request: pytest.FixtureRequest) -> Client:
    """Each client that starts at once."""
    return LIBRARIES.get(request.param) or KcatClient()


@pytest.fixture(params=[*LIBRARIES, "kcat", "java"])
def any_client(request: pytest.FixtureRequest) -> Client:
    if request.param == "java":
        return JavaClient(request.getfixturevalue("java_tools"))
    return LIBRARIES.get(request.param) or KcatClient()
