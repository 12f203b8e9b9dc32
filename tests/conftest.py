"""What tests of several rooms share: brokers as processes, Java, jars and topic names."""

from __future__ import annotations

import gc
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import hypothesis
import pytest

from tests.broker import KEEPS_RECORDS, QUICK_GROUPS, BarnabasBroker, BrokerProcess
from tests.connect_service import ConnectProcess
from tests.databases import DatabaseProcess, MariaDb, Postgres
from tests.oracle import ApacheKafka
from tests.ports import free_port
from tests.provision import jars
from tests.provision import java as java_runtime
from tests.registry import RegistryProcess
from tests.rest import RestProcess
from tests.service_process import ServiceProcess
from tests.sql_service import QUICK_SPARK, SqlProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKERS = ("ours", "kafka")
TOPIC_NAME_CHARACTERS = 180
LONG = ("docs", "e2e", "spark")
"""Folders whose tests start and kill whole services, or type for minutes."""
LONG_FILES = ("test_election.py", "test_messages.py", "test_tidy.py")
"""Files of ten seconds and more that would come at the end by their names."""

# As in the Makefile, for runs of pytest alone: modules are compiled once, not again by each worker and each process of a test.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long an example takes depends on what else the machine does.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")

Service = TypeVar("Service", bound=ServiceProcess)
DatabaseT = TypeVar("DatabaseT", bound=DatabaseProcess)
StartBroker = Callable[..., BarnabasBroker]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--broker",
        action="append",
        choices=BROKERS,
        help="what the client tests talk to: ours (the default), Apache Kafka, or both if given twice",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that asks for `broker` once with each broker that the command line names."""
    if "broker" in metafunc.fixturenames:
        names = metafunc.config.getoption("--broker") or ["ours"]
        metafunc.parametrize("broker", names, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait most come first, so that there is always something else to do, and no worker is left alone with long ones at the end."""
    items.sort(key=lambda item: 0 if item.path.parent.name in LONG else 1 if item.path.name in LONG_FILES else 2)


@pytest.fixture(scope="session")
def java() -> Path:
    """The `java` program."""
    home = java_runtime.find()
    if home is None:
        pytest.skip(f"Java {java_runtime.JAVA_MINIMUM} or newer is not installed")
    return home / "bin" / "java"


@pytest.fixture(scope="session")
def kafka_jars(java: Path) -> Path:
    """The folder with Apache Kafka's jars."""
    return _provide(jars.KAFKA)


@pytest.fixture(scope="session")
def spark_jars(java: Path) -> Path:
    """The folder with the jars of Spark's Kafka connector."""
    os.environ.setdefault("JAVA_HOME", str(java.parent.parent))
    return _provide(jars.SPARK)


@pytest.fixture(scope="session")
def spark(spark_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark in this process, as the driver process has it. Tests share it, since a process can have one alone."""
    from streams_sql.spark.driver.session import (
        open_session,  # it takes a second, which tests without Spark need not wait
    )

    folder = str(tmp_path_factory.mktemp("spark"))
    settings = {"spark.log.level": "OFF", "spark.local.dir": folder, **QUICK_SPARK}
    session = open_session("local[4]", settings)
    yield session
    session.stop()


@pytest.fixture(params=["barnabas", "apache_kafka"])
def kafka(request: pytest.FixtureRequest) -> BrokerProcess:
    """Each broker that a service must work on, one after the other. Tests share them and must not stop them."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, BrokerProcess)
    return found


@pytest.fixture(scope="session")
def apache_kafka(java: Path, kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Apache Kafka, started when the first test asks for it."""
    yield from _running(ApacheKafka(tmp_path_factory.mktemp("kafka"), java, kafka_jars, KEEPS_RECORDS))


@pytest.fixture(scope="session")
def barnabas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BarnabasBroker]:
    """Ours, with every setting at its default, except that groups form quickly and old records stay."""
    settings = {**QUICK_GROUPS, **KEEPS_RECORDS}
    yield from _running(BarnabasBroker(tmp_path_factory.mktemp("barnabas"), settings=settings))


@pytest.fixture(scope="session")
def registry(barnabas: BarnabasBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProcess]:
    """Our registry on our broker. Tests share it: each takes subjects or contexts of its own."""
    yield from _running(RegistryProcess(tmp_path_factory.mktemp("registry"), barnabas.address))


@pytest.fixture(scope="session")
def registry_url(registry: RegistryProcess) -> str:
    return registry.url


@pytest.fixture(scope="session")
def registry_on_kafka(apache_kafka: ApacheKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProcess]:
    """Our registry on Apache Kafka."""
    yield from _running(RegistryProcess(tmp_path_factory.mktemp("registry-on-kafka"), apache_kafka.address))


@pytest.fixture(scope="session")
def rest_service(
    barnabas: BarnabasBroker, registry: RegistryProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RestProcess]:
    """Our REST proxy on our broker and our registry. Tests share it: each takes topics and groups of its own."""
    yield from _running(RestProcess(tmp_path_factory.mktemp("rest"), barnabas.address, registry.url))


@pytest.fixture(scope="session")
def rest_url(rest_service: RestProcess) -> str:
    return rest_service.url


@pytest.fixture(scope="session")
def rest_on_kafka_url(
    apache_kafka: ApacheKafka, registry_on_kafka: RegistryProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The same on Apache Kafka."""
    home = tmp_path_factory.mktemp("rest-on-kafka")
    for service in _running(RestProcess(home, apache_kafka.address, registry_on_kafka.url)):
        yield service.url


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server. Tests share it: each makes databases of its own, and none stops it."""
    yield from _serving(Postgres)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    """The same with MariaDB."""
    yield from _serving(MariaDb)


@pytest.fixture(scope="session")
def connect_service(
    barnabas: BarnabasBroker, registry: RegistryProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ConnectProcess]:
    """Our worker of connectors on our broker and our registry. Tests share it: each takes connectors and topics of its own."""
    settings = {"schema.registry.url": registry.url}
    yield from _running(
        ConnectProcess(tmp_path_factory.mktemp("connect"), barnabas.address, "connect", settings=settings)
    )


@pytest.fixture(scope="session")
def connect_url(connect_service: ConnectProcess) -> str:
    return connect_service.url


@pytest.fixture(scope="session")
def sql_service(
    barnabas: BarnabasBroker, registry: RegistryProcess, spark_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqlProcess]:
    """Our SQL server on our broker and our registry. Tests share it: each takes topics, streams and tables of its own."""
    settings = {"sql.functions.modules": "math"}
    yield from _running(SqlProcess(tmp_path_factory.mktemp("sql"), barnabas.address, registry.url, settings=settings))


@pytest.fixture(scope="session")
def broker(request: pytest.FixtureRequest) -> BrokerProcess:
    """The broker under test: ours, or Apache Kafka with `--broker kafka`. Tests share it and must not stop it."""
    found = request.getfixturevalue({"ours": "barnabas", "kafka": "apache_kafka"}[request.param])
    assert isinstance(found, BrokerProcess)
    return found


@pytest.fixture(scope="session")
def broker_address(broker: BrokerProcess) -> str:
    return broker.address


@pytest.fixture
def start_broker(tmp_path: Path) -> Iterator[StartBroker]:
    """Start brokers of ours that belong to the test alone: `start_broker(log_segment_bytes=1_048_576)`.

    They keep their ports over restarts. Underscores in the names of settings stand for dots.
    """
    started: list[BarnabasBroker] = []

    def start(**settings: object) -> BarnabasBroker:
        named = {name.replace("_", "."): str(value) for name, value in settings.items()}
        own = BarnabasBroker(tmp_path / f"broker-{len(started)}", free_port(), named)
        started.append(own)
        own.start()
        return own

    yield start
    for own in started:
        if own.is_running():
            own.stop()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test has."""
    legal = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name)[:TOPIC_NAME_CHARACTERS]
    return f"{legal}-{secrets.token_hex(4)}"


def _provide(wanted: jars.JarSet) -> Path:
    try:
        return jars.provide(wanted)
    except jars.JarError as error:
        pytest.skip(str(error))


def _serving(database: type[DatabaseT]) -> Iterator[DatabaseT]:
    programs = database.server.find()
    if programs is None:
        pytest.skip(database.server.advice)
    process = database(programs)
    process.start()
    yield process
    process.remove()


def _running(service: Service) -> Iterator[Service]:
    service.start()
    yield service
    if isinstance(service, BrokerProcess):
        # Clients of librdkafka that are garbage, and have not been collected, would complain that their broker has gone.
        gc.collect()
    service.stop()
