"""What the answer to a pull query says of a table that is not there yet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from streams_sql.bounded.pages import Budget
from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.client_queries.pull_queries import PullQueries
from streams_sql.engine.queries.query_status import QueryState, QueryStatus
from streams_sql.language.parsing import parse_statement
from streams_sql.language.statements import Query
from streams_sql.views.view_follower import ViewFollower
from tests.broker import BarnabasBroker
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.views.tables import opened
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for

BEHIND = "X is incomplete: query CTAS_X_1 has read 40 % of its topics and is 6 records behind."


@dataclass
class FixedStates:
    """What is known of all queries."""

    now: QueryState
    error: str | None = None

    def state(self, query: PersistentQuery) -> QueryState:
        return self.now

    def status(self, query: PersistentQuery) -> QueryStatus:
        return QueryStatus(query.id, query.statement, query.plan.sink, self.now, error=self.error)


def test_a_query_that_has_not_begun_is_told(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    statements = Statements()
    statements.apply(
        f"CREATE TABLE X WITH (KAFKA_TOPIC='{topic}') AS SELECT K, COUNT(*) AS N FROM S GROUP BY K;",
        query_id="CTAS_X_1",
    )
    source = statements.catalogue.sources["X"]
    written = WrittenTopic(barnabas.address, topic)
    told = FixedStates(QueryState.STARTING)

    async def notes() -> list[tuple[str, ...]]:
        query = parse_statement("SELECT * FROM X;")
        assert isinstance(query, Query)
        found = []
        async with opened(tmp_path, barnabas.address, source) as views:
            follower = ViewFollower(views, lambda: [source])
            behind: list[str] = []
            pulling = PullQueries(views, follower, statements.catalogue, Budget(), 10, told, lambda _: tuple(behind))
            for told.now, told.error in (
                (QueryState.STARTING, None),
                (QueryState.STARTING, "no Java"),
                (QueryState.RUNNING, None),
            ):
                found.append((await pulling.start("SELECT * FROM X;", query)).notes)
            behind.append(BEHIND)
            found.append((await pulling.start("SELECT * FROM X;", query)).notes)
            behind.clear()
            written.write([("a", {"N": 1})])
            view = views.view("X")
            assert view is not None
            await asyncio.to_thread(wait_for, lambda: view.progress.has_read, "the view to read the row")
            found.append((await pulling.start("SELECT * FROM X;", query)).notes)
        return found

    assert asyncio.run(asyncio.wait_for(notes(), 60)) == [
        ("The query CTAS_X_1 has not begun yet: Spark is starting it, and X is empty until then.",),
        ("The query CTAS_X_1 has not written to X yet. It is STARTING: no Java.",),
        ("The query CTAS_X_1 has not written to X yet. It is RUNNING.",),
        ("The query CTAS_X_1 has not written to X yet. It is RUNNING.", BEHIND),
        (),
    ]
