"""The client for asyncio, against the same server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from barnabas.sql import AsyncClient, Refused, RowsRefused, ServerUnreachable
from tests.ports import free_port
from tests.sql_service import SqlProcess
from tests.streams_sql.clients.rows import EMPTY, FULL, push_queries

Run = Callable[[Callable[[AsyncClient], Awaitable[None]]], None]


@pytest.fixture
def run(sql_service: SqlProcess) -> Run:
    """Run something with a client that reads topics from their beginnings."""

    async def with_client(work: Callable[[AsyncClient], Awaitable[None]]) -> None:
        async with AsyncClient(sql_service.url, properties={"auto.offset.reset": "earliest"}) as client:
            await work(client)

    return lambda work: asyncio.run(with_client(work))


def test_rows_come_back_as_they_were_written(run: Run, stream: str) -> None:
    async def work(client: AsyncClient) -> None:
        assert await client.insert(stream, [FULL, EMPTY]) == 2
        rows = await client.query(f"SELECT * FROM {stream} EMIT CHANGES LIMIT 2;")
        assert [row async for row in rows.dicts()] == [FULL, EMPTY]
        frame = await (await client.query(f"SELECT k, b FROM {stream} EMIT CHANGES LIMIT 2;")).to_pandas()
        assert frame["B"].dropna().tolist() == [FULL["B"]]

    run(work)


def test_closing_ends_the_rows_of_another_task(run: Run, sql_service: SqlProcess, stream: str) -> None:
    running = push_queries(sql_service)

    async def work(client: AsyncClient) -> None:
        await client.insert(stream, [{"k": "a"}])
        rows = await client.stream(f"SELECT k FROM {stream} EMIT CHANGES;")
        waiting = asyncio.Event()

        async def read() -> list[str]:
            found = []
            async for row in rows:
                found.append(row.k)
                waiting.set()
            return found

        async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read())
            await waiting.wait()
            await rows.close()
        assert reading.result() == ["a"]

    run(work)
    assert push_queries(sql_service) == running


def test_a_task_that_is_cancelled_ends_its_query(run: Run, sql_service: SqlProcess, stream: str) -> None:
    running = push_queries(sql_service)

    async def work(client: AsyncClient) -> None:
        async def read() -> None:
            async with await client.stream(f"SELECT k FROM {stream} EMIT CHANGES;") as rows:
                begun.set()
                async for _row in rows:
                    pass

        begun = asyncio.Event()
        reading = asyncio.create_task(read())
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    run(work)
    assert push_queries(sql_service) == running


def test_rows_of_a_stream_are_in_the_topic_while_it_is_open(run: Run, stream: str) -> None:
    async def work(client: AsyncClient) -> None:
        async with client.insert_stream(stream) as rows:
            for number in range(2_500):
                await rows.send({"k": "a", "i": number})
            assert await rows.flush() == 2_500
            found = await client.query(f"SELECT i FROM {stream} EMIT CHANGES LIMIT 2500;")
            assert [row.i async for row in found] == list(range(2_500))
            await rows.send({"k": "b", "i": "x"})
            with pytest.raises(RowsRefused, match="Row 2500 was refused"):
                await rows.flush()

    run(work)


def test_mistakes_are_told(run: Run, stream: str) -> None:
    async def work(client: AsyncClient) -> None:
        assert (await client.info())["serverStatus"] == "RUNNING"
        assert (await client.execute(f"DESCRIBE {stream};"))[0]["sourceDescription"]["name"] == stream
        with pytest.raises(Refused) as refused:
            await client.query(f"SELECT kk FROM {stream} EMIT CHANGES;")
        assert (refused.value.line, refused.value.column) == (1, 8)
        with pytest.raises(Refused, match="NO_SUCH_STREAM"):
            await client.insert("no_such_stream", [{"k": "a"}])

    run(work)


def test_nobody_answers() -> None:
    async def work() -> None:
        async with AsyncClient(f"http://127.0.0.1:{free_port()}") as client:
            calls = (client.info, lambda: client.query("SELECT 1;"), lambda: client.insert("x", []))
            for call in calls:
                with pytest.raises(ServerUnreachable, match="cannot reach the SQL server at"):
                    await call()

    asyncio.run(work())
