"""Databases for the tests of the JDBC connectors: each test has one of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connect.connectors.jdbc.sample_database import SampleDatabase
from tests.databases import DatabaseProcess, MariaDb, Postgres


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SampleDatabase]:
    yield from _opened("sqlite", f"jdbc:sqlite:{tmp_path / 'test.db'}")


@pytest.fixture
def duckdb(tmp_path: Path) -> Iterator[SampleDatabase]:
    yield from _opened("duckdb", f"jdbc:duckdb:{tmp_path / 'test.duckdb'}")


@pytest.fixture
def postgresql(postgres: Postgres) -> Iterator[SampleDatabase]:
    yield from _opened("postgresql", postgres.create_database(), postgres)


@pytest.fixture
def maria(mariadb: MariaDb) -> Iterator[SampleDatabase]:
    yield from _opened("mariadb", mariadb.create_database(), mariadb)


@pytest.fixture(params=["sqlite", "postgresql", "maria"])
def database(request: pytest.FixtureRequest) -> SampleDatabase:
    """The same test for each kind of database."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, SampleDatabase)
    return found


@pytest.fixture(params=["sqlite", "postgresql", "maria", "duckdb"])
def any_database(request: pytest.FixtureRequest) -> SampleDatabase:
    """The same with DuckDB, which takes its time to open a file."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, SampleDatabase)
    return found


@pytest.fixture(params=[Postgres, MariaDb], ids=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[DatabaseProcess]:
    """A server that the test may kill."""
    programs = request.param.server.find()
    if programs is None:
        pytest.skip(request.param.server.advice)
    process: DatabaseProcess = request.param(programs)
    process.start()
    yield process
    process.remove()


def _opened(kind: str, url: str, server: DatabaseProcess | None = None) -> Iterator[SampleDatabase]:
    database = SampleDatabase(kind, url)
    yield database
    database.close()
    if server is not None:
        server.drop_database(url)
