"""Statements about connectors, at our own worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from streams_sql.engine.failures import ConnectRefused, Unavailable
from streams_sql.engine.statements import connectors
from streams_sql.engine.statements.connect_client import ConnectAccess, ConnectClient
from streams_sql.engine.statements.connectors import Connectors
from streams_sql.engine.statements.entities import ConnectorCreation, ConnectorDeletion, StatementWarning
from streams_sql.language.parsing import parse_statement
from streams_sql.problem import SqlProblem
from tests.connect_service import ConnectProcess
from tests.ports import HOST, free_port
from tests.streams_sql.engine.catalogues import Statements

CALL_S = 90.0
T = TypeVar("T")
Asked = Callable[[str], Any]

DATAGEN = (
    "'connector.class'='datagen', 'kafka.topic'='{name}', 'quickstart'='orders', 'max.interval'='60000', "
    "'value.converter'='org.apache.kafka.connect.json.JsonConverter'"
)


def asked_of(connectors: Connectors, text: str) -> Any:
    """What a statement answers, tried out first as the engine does."""
    statement: Any = parse_statement(text)

    async def done() -> Any:
        try:
            match type(statement).__name__:
                case "CreateConnector":
                    await connectors.check(statement)
                    return await connectors.create(statement)
                case "DropConnector":
                    return await connectors.drop(statement)
                case "DescribeConnector":
                    return await connectors.describe(statement)
                case "ShowConnectors":
                    return await connectors.list(statement)
            return await connectors.list_plugins()
        finally:
            await connectors.client.close()

    return asyncio.run(_bounded(done()))


async def _bounded(work: Coroutine[Any, Any, T]) -> T:
    async with asyncio.timeout(CALL_S):
        return await work


@pytest.fixture
def ask(connect_service: ConnectProcess, topic: str) -> Asked:
    catalogue = Statements(prefix=topic).catalogue

    def run(text: str) -> Any:
        return asked_of(Connectors(ConnectClient(ConnectAccess(connect_service.url, CALL_S)), catalogue), text)

    return run


@pytest.fixture
def made(ask: Asked, topic: str) -> Iterator[str]:
    """A connector that writes to the topic of the stream S."""
    name = f"{topic}s"
    created = ask(f"CREATE SOURCE CONNECTOR `{name}` WITH ({DATAGEN.format(name=name)}, 'some.password'='hush');")
    assert isinstance(created, ConnectorCreation)
    assert (created.name, created.type) == (name, "source")
    assert (created.config["connector.class"], created.config["some.password"]) == ("datagen", "[hidden]")
    yield name
    ask(f"DROP CONNECTOR IF EXISTS `{name}`;")


def test_a_connector_from_its_beginning_to_its_end(ask: Asked, made: str, connect_service: ConnectProcess) -> None:
    connect_service.wait_for_tasks(made, ["RUNNING"])
    listed = ask("SHOW CONNECTORS;")
    (own,) = [each for each in listed.connectors if each.name == made]
    assert (own.type, own.class_name, own.state) == ("source", "datagen", "RUNNING (1/1 tasks RUNNING)")
    assert made in str(ask("SHOW SOURCE CONNECTORS;"))
    assert made not in str(ask("SHOW SINK CONNECTORS;"))
    described = ask(f"DESCRIBE CONNECTOR `{made}`;")
    assert (described.class_name, described.status["connector"]["state"]) == ("datagen", "RUNNING")
    assert [each.source.name for each in described.sources] == (["S"] if described.topics else [])
    assert ask(f"DROP CONNECTOR `{made}`;") == ConnectorDeletion(made)
    assert made not in str(ask("SHOW CONNECTORS;"))
    assert ask(f"DROP CONNECTOR IF EXISTS `{made}`;") == StatementWarning(f"Connector '{made}' does not exist.")


def test_one_that_was_made_just_now_is_described(ask: Asked, made: str) -> None:
    described = ask(f"DESCRIBE CONNECTOR `{made}`;")
    assert described.status["name"] == made
    assert made not in str(ask("SHOW CONNECTORS;").warnings)


class _Reluctant(ConnectClient):
    """Connect before a worker has taken the connector up."""

    def __init__(self, url: str, refusals: int) -> None:
        super().__init__(ConnectAccess(url, CALL_S))
        self.refusals = refusals

    async def status(self, name: str) -> dict[str, Any]:
        if self.refusals:
            self.refusals -= 1
            raise ConnectRefused(404, f"No status found for connector {name}")
        return await super().status(name)


def test_the_status_of_a_new_connector_is_waited_for(
    made: str, connect_service: ConnectProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect_service.wait_for_tasks(made, ["RUNNING"])
    catalogue = Statements().catalogue
    reluctant = _Reluctant(connect_service.url, 2)
    described = asked_of(Connectors(reluctant, catalogue), f"DESCRIBE CONNECTOR `{made}`;")
    assert (described.status["name"], reluctant.refusals) == (made, 0)
    monkeypatch.setattr(connectors, "STATUS_WAIT_S", 0.0)
    with pytest.raises(ConnectRefused, match="The connector is there, but no worker has told its state") as caught:
        asked_of(Connectors(_Reluctant(connect_service.url, 100), catalogue), f"DESCRIBE CONNECTOR `{made}`;")
    assert "Did you mean" not in caught.value.message


def test_one_that_is_there_already(ask: Asked, made: str) -> None:
    config = DATAGEN.format(name=made)
    with pytest.raises(ConnectRefused, match="already exists") as caught:
        ask(f"CREATE SOURCE CONNECTOR `{made}` WITH ({config});")
    assert caught.value.status == 409
    assert ask(f"CREATE SOURCE CONNECTOR IF NOT EXISTS `{made}` WITH ({config});") == StatementWarning(
        f"Connector {made} already exists"
    )


def test_settings_that_are_not_good_are_told_before_anything_is_made(ask: Asked, topic: str) -> None:
    with pytest.raises(SqlProblem, match=r"Validation error: .*tasks\.max"):
        ask(f"CREATE SOURCE CONNECTOR `{topic}` WITH ({DATAGEN.format(name=topic)}, 'tasks.max'='many');")
    with pytest.raises(SqlProblem, match=r"has no connector type: give it one with 'connector\.class'"):
        ask(f"CREATE SOURCE CONNECTOR `{topic}` WITH ('tasks.max'=1);")
    with pytest.raises(SqlProblem, match=r"no\.such\.Class"):
        ask(f"CREATE SOURCE CONNECTOR `{topic}` WITH ('connector.class'='no.such.Class');")
    assert topic not in str(ask("SHOW CONNECTORS;"))


def test_a_name_in_capitals_is_proposed_as_it_is(ask: Asked, made: str) -> None:
    for statement in ("DESCRIBE CONNECTOR", "DROP CONNECTOR"):
        with pytest.raises(ConnectRefused, match=f"Did you mean `{made}`\\? Write it in backticks") as caught:
            ask(f'{statement} "{made.upper()}";')
        assert caught.value.status == 404


def test_plugins_are_listed(ask: Asked) -> None:
    assert "source" in {each["type"] for each in ask("SHOW CONNECTOR PLUGINS;").plugins}


def test_nobody_at_the_address_of_connect() -> None:
    url = f"http://{HOST}:{free_port()}"
    connectors = Connectors(ConnectClient(ConnectAccess(url, CALL_S)), Statements().catalogue)
    with pytest.raises(Unavailable, match=rf"Connect does not answer at {url}: .* ksql\.connect\.url"):
        asked_of(connectors, "SHOW CONNECTORS;")
