"""Kafka in tests: a plugin of pytest, and the same for scripts and notebooks.

    def test_orders(kafka):
        topic = kafka.create_topic()
        place_order(kafka.bootstrap_servers, topic)
        assert [record.value for record in kafka.records(topic)] == [b"nail"]

    with barnabas.testing.platform() as p:
        print(p.bootstrap_servers, p.schema_registry_url, p.rest_url, p.connect_url, p.sql_url)

Everything is real: sockets, files, the services as they run in production. One broker and one of each service serve a whole run of pytest;
what a test makes in them goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

# The plugin is loaded in every run of pytest where Barnabas is installed; all else waits until a test asks for it.
if TYPE_CHECKING:
    from barnabas.embedded.arguments import Configs
    from barnabas.embedded.broker import EmbeddedBroker
    from barnabas.embedded.leftovers import Leftovers
    from barnabas.embedded.platform import EmbeddedPlatform
    from connect.compliance.sink import SinkCompliance
    from connect.compliance.source import SourceCompliance

__all__ = ["SinkCompliance", "SourceCompliance", "broker", "platform"]

_COMPLIANCE: Final = {"SinkCompliance": "connect.compliance.sink", "SourceCompliance": "connect.compliance.source"}
_SQL_TEST: Final = b"--@test"
_SQL_FILE_BYTES_MAX: Final = 10_000_000


def __getattr__(name: str) -> Any:
    """Import the compliance suite of connectors when a test names it."""
    if name not in _COMPLIANCE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_COMPLIANCE[name]), name)


def broker(settings: Configs | None = None, folder: Path | None = None) -> EmbeddedBroker:
    """A broker in this process, ready when this returns: `with barnabas.testing.broker() as kafka:`."""
    from barnabas.embedded.broker import EmbeddedBroker

    return EmbeddedBroker(settings, folder)


def platform(
    services: Sequence[str] = ("broker", "registry", "rest", "connect", "sql"),
    settings: Configs | None = None,
    folder: Path | None = None,
    bootstrap_servers: str | None = None,
) -> EmbeddedPlatform:
    """Services as processes of their own at free ports, ready when this returns: `with barnabas.testing.platform() as p:`."""
    from barnabas.embedded.platform import EmbeddedPlatform

    return EmbeddedPlatform(services, settings, folder, bootstrap_servers)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """`test_*.sql` and `*_test.sql` are tests of statements, if they have some: each `--@test: name` in them is one."""
    if file_path.suffix != ".sql" or not (file_path.stem.startswith("test_") or file_path.stem.endswith("_test")):
        return None
    # Files of this kind may be anything else, such as rows for a database.
    with file_path.open("rb") as file:
        if _SQL_TEST not in file.read(_SQL_FILE_BYTES_MAX):
            return None
    try:
        from barnabas.embedded.sql_files import SqlFile
    except ImportError as missing:
        from barnabas.embedded.unready_sql_file import UnreadySqlFile

        return UnreadySqlFile.of(parent, file_path, (missing.name or str(missing)).partition(".")[0])
    return SqlFile.from_parent(parent, path=file_path)


@pytest.fixture(scope="session")
def kafka_broker() -> Iterator[EmbeddedBroker]:
    """The broker of this run of pytest, for fixtures that live longer than a test."""
    with broker() as running:
        yield running


@pytest.fixture
def kafka(kafka_broker: EmbeddedBroker) -> Iterator[EmbeddedBroker]:
    """The broker of this run. Topics that the test makes go with it, and so do its faults, but for time that it has put forward."""
    before = set(kafka_broker.topics())
    yield kafka_broker
    kafka_broker.faults.clear()
    for topic in set(kafka_broker.topics()) - before:
        if not topic.startswith("_"):  # those of services, which outlive the test
            kafka_broker.delete_topic(topic)


@pytest.fixture(scope="session")
def schema_registry_server(kafka_broker: EmbeddedBroker) -> Iterator[str]:
    """The URL of the Schema Registry of this run, for fixtures that live longer than a test."""
    with _service("registry", kafka_broker) as running:
        yield running.schema_registry_url


@pytest.fixture
def schema_registry(
    schema_registry_server: str, kafka: EmbeddedBroker, request: pytest.FixtureRequest
) -> Iterator[str]:
    """The URL of a Schema Registry on the broker of this run. Subjects that the test makes go with it."""
    from barnabas.embedded.leftovers import Subjects

    # A proxy keeps the ids of the schemas that it has written; its next records must not name one that is gone.
    with _removed(Subjects(schema_registry_server, for_good="rest_proxy" not in request.fixturenames), kafka):
        yield schema_registry_server


@pytest.fixture(scope="session")
def rest_proxy_server(kafka_broker: EmbeddedBroker, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of the REST proxy of this run, for fixtures that live longer than a test."""
    with _service("rest", kafka_broker, request) as running:
        yield running.rest_url


@pytest.fixture
def rest_proxy(rest_proxy_server: str, kafka: EmbeddedBroker, schema_registry: str) -> Iterator[str]:
    """The URL of a REST proxy on the broker and the registry of this run. Consumer instances that the test makes go with it."""
    from barnabas.embedded.leftovers import ConsumerInstances

    with _removed(ConsumerInstances(rest_proxy_server), kafka):
        yield rest_proxy_server


@pytest.fixture(scope="session")
def connect_worker(kafka_broker: EmbeddedBroker, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of the worker of connectors of this run, for fixtures that live longer than a test."""
    with _service("connect", kafka_broker, request) as running:
        yield running.connect_url


@pytest.fixture
def connect(connect_worker: str, kafka: EmbeddedBroker, schema_registry: str) -> Iterator[str]:
    """The URL of a worker of connectors on the broker and the registry of this run. Connectors that the test makes go with it."""
    from barnabas.embedded.leftovers import Connectors

    with _removed(Connectors(connect_worker), kafka):
        yield connect_worker


@pytest.fixture(scope="session")
def streams_sql_server(kafka_broker: EmbeddedBroker, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of the SQL server of this run, for fixtures that live longer than a test."""
    with _service("sql", kafka_broker, request) as running:
        yield running.sql_url


@pytest.fixture
def streams_sql(streams_sql_server: str, kafka: EmbeddedBroker, schema_registry: str) -> Iterator[str]:
    """The URL of a SQL server on the broker and the registry of this run. What the test's statements make goes with it. Spark starts with
    the first query that needs it."""
    from barnabas.embedded.leftovers import Statements

    with _removed(Statements(streams_sql_server), kafka):
        yield streams_sql_server


@contextmanager
def _removed(leftovers: Leftovers, kafka: EmbeddedBroker) -> Iterator[None]:
    """Subjects and topics go after what uses them, and nothing goes while the broker has faults."""
    yield
    kafka.faults.clear()
    leftovers.remove()


def _service(name: str, kafka: EmbeddedBroker, request: pytest.FixtureRequest | None = None) -> EmbeddedPlatform:
    """With a `request`, on the registry of this run, too."""
    from barnabas.embedded.platform import MissingPackages, require_packages
    from barnabas.service_commands import own
    from barnabas.services import REGISTRY, SERVICES

    service = SERVICES[name]
    settings = {}
    try:
        require_packages([service] if request is None else [REGISTRY, service])
    except MissingPackages as missing:
        pytest.fail(f"this fixture cannot be had: {missing}", pytrace=False)
    if service.registry_setting is not None and request is not None:
        settings[own(service, service.registry_setting)] = request.getfixturevalue("schema_registry_server")
    return platform([name], settings, None, kafka.bootstrap_servers)
