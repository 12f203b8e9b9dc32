"""What is said of tables whose queries or views are behind, on a real broker. Spark's reports are the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from barnabas.kernel.kafka_clients.admin import Admin
from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.queries.completeness import Completeness
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.spark.driver.messages import Progress, Started
from streams_sql.views.views import Views
from tests.broker import BarnabasBroker
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.engine.queries.recording_driver import RecordingDriver
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for_async

DEADLINE_S = 60.0


class Chain:
    """M is a stream of the records of S, N a table of how many M has."""

    def __init__(self, address: str, prefix: str, folder: Path) -> None:
        self.statements = Statements(prefix=prefix)
        catalogue = self.statements.catalogue
        self.middle = self._query(f"CREATE STREAM M WITH (KAFKA_TOPIC='{prefix}m') AS SELECT * FROM S;", "CSAS_M")
        count = f"CREATE TABLE N WITH (KAFKA_TOPIC='{prefix}n') AS SELECT K, COUNT(*) AS C FROM M GROUP BY K;"
        self.counted = self._query(count, "CTAS_N")
        self.topics = {name: WrittenTopic(address, f"{prefix}{name}") for name in ("s", "m", "n")}
        self.queries = PersistentQueries(RecordingDriver(), QuerySettings("/checkpoints"), ErrorLog(lambda error: None))
        self.views = Views(folder, {"bootstrap.servers": address})
        self.now_s = 0.0
        self.completeness = Completeness(
            catalogue, self.queries, self.views, Admin({"bootstrap.servers": address}), lambda: self.now_s
        )

    def _query(self, text: str, query_id: str) -> PersistentQuery:
        started = self.statements.apply(text, query_id=query_id).started
        assert started is not None
        return started

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.views.start()
        try:
            await self.views.follow([self.statements.catalogue.sources["N"]])
            self.queries.reconcile([self.middle, self.counted])
            for query in (self.middle, self.counted):
                self.queries.on_event(Started(query.id))
            yield
        finally:
            await self.views.stop()

    def write(self, name: str, count: int) -> None:
        self.topics[name].write([("k", {"C": number}) for number in range(count)])

    def read(self, query: PersistentQuery, name: str, position: int) -> None:
        """A batch of a query is done."""
        read = {self.topics[name].name: {0: position}}
        self.queries.on_event(Progress(query.id, 1, 1, 1, 1.0, 0, 0, 5, read=read))

    async def viewed(self, position: int) -> None:
        view = self.views.view("N")
        assert view is not None
        await view.progress.reach({0: position})

    async def notes(self) -> list[str]:
        await self.completeness.look()
        return list(self.completeness.notes(self.statements.catalogue.sources["N"]))


def test_a_table_is_incomplete_until_all_that_it_is_made_of_is_read(
    barnabas: BarnabasBroker, topic: str, tmp_path: Path
) -> None:
    chain = Chain(barnabas.address, f"{topic}-", tmp_path)

    async def steps() -> None:
        chain.write("s", 10)
        async with chain.running():
            first = "N is incomplete: query CSAS_M, which writes M,"
            assert await chain.notes() == [
                f"{first} has not finished a batch since it was started; its topics have 10 records."
            ]
            chain.write("m", 5)
            chain.read(chain.middle, "s", 5)
            assert await chain.notes() == [
                "N is incomplete: query CTAS_N has not finished a batch since it was started; its topics have 5 records.",
                f"{first} has read 50 % of its topics and is 5 records behind.",
            ]
            # It has read what there is, and more is to come.
            chain.read(chain.counted, "m", 5)
            assert await chain.notes() == [f"{first} has read 50 % of its topics and is 5 records behind."]
            chain.write("m", 5)
            chain.read(chain.middle, "s", 10)
            assert await chain.notes() == [
                "N is incomplete: query CTAS_N has read 50 % of its topics and is 5 records behind."
            ]
            chain.write("n", 1)
            await chain.viewed(1)
            chain.read(chain.counted, "m", 10)
            assert await chain.notes() == []

    asyncio.run(asyncio.wait_for(steps(), DEADLINE_S))


def test_a_table_that_lags_later_is_out_of_date(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    chain = Chain(barnabas.address, f"{topic}-", tmp_path)

    async def steps() -> None:
        async with chain.running():
            assert await chain.notes() == []
            chain.write("s", 4)
            assert await chain.notes() == [], "it has just come"
            chain.now_s += 10
            assert await chain.notes() == [
                "N is incomplete: query CSAS_M, which writes M, has not finished a batch since it was started; its topics have 4 records."
            ]
            chain.read(chain.middle, "s", 4)
            assert await chain.notes() == []

    asyncio.run(asyncio.wait_for(steps(), DEADLINE_S))


def test_a_view_that_has_not_read_the_last_rows_of_its_query_is_behind(
    barnabas: BarnabasBroker, topic: str, tmp_path: Path
) -> None:
    chain = Chain(barnabas.address, f"{topic}-", tmp_path)

    async def steps() -> None:
        chain.write("m", 1)
        async with chain.running():
            await chain.viewed(0)
            await chain.notes()
            await asyncio.to_thread(chain.write, "n", 3_000)
            chain.read(chain.counted, "m", 1)

            async def is_complete() -> bool:
                return not await chain.notes()

            await wait_for_async(is_complete, "the view to have read the rows")
            view = chain.views.view("N")
            assert view is not None
            assert view.progress.positions == {0: 3_000}

    asyncio.run(asyncio.wait_for(steps(), DEADLINE_S))
