"""Pull queries, from the smallest to those of many pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streams_sql.bounded.pages import PAGE_ROWS, Budget, BudgetSpent
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.language.statements import WindowKind
from streams_sql.plan.records import window_suffix
from streams_sql.problem import SqlProblem
from streams_sql.sources import HeaderColumn, KeyWindow
from streams_sql.sql_types import BOOLEAN, DOUBLE, INTEGER, STRING, Array, SqlType
from tests.broker import BarnabasBroker
from tests.streams_sql.views.tables import asked, opened, plan_of, prepared_pulls, stream, table
from tests.streams_sql.views.written_topic import WrittenTopic

ROWS = 2 * PAGE_ROWS + 500


@pytest.fixture(scope="module")
def many(barnabas: BarnabasBroker) -> str:
    """A topic of which tests read alone: keys 00000, 00001, …, the same number in A, its half in F, and whether it is even in E."""
    name = "pull-many"
    WrittenTopic(barnabas.address, name, 2).write(
        (f"{number:05}", {"A": number, "F": number / 2, "E": number % 2 == 0, "L": [str(number), None]})
        for number in range(ROWS)
    )
    return name


COLUMNS: dict[str, SqlType] = {"A": INTEGER, "F": DOUBLE, "E": BOOLEAN, "L": Array(STRING)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM T WHERE K = '00003';", [("00003", 3, 1.5, False, ["3", None])]),
        ("SELECT * FROM T WHERE K = 'none';", []),
        ("SELECT A FROM T WHERE K IN ('00004', '00002', 'none');", [(2,), (4,)]),
        ("SELECT A FROM T WHERE K IN ('00004', '00002') AND E AND A > 2;", [(4,)]),
        ("SELECT A * 2 AS X, L[1] AS Y, 'c' AS Z FROM T WHERE K = '00003';", [(6, "3", "c")]),
        ("SELECT 'c' FROM T WHERE K = '00003';", [("c",)]),
        ("SELECT A FROM T WHERE K = '00003' LIMIT 0;", []),
        ("SELECT A FROM T WHERE A >= 2497;", [(2497,), (2498,), (2499,)]),
        ("SELECT A FROM T WHERE K >= '00010' AND K < '00012';", [(10,), (11,)]),
        ("SELECT A FROM T WHERE UCASE(K) = '02400' AND NOT A = 5;", [(2400,)]),
        ("SELECT A FROM T WHERE L[1] LIKE '%499' LIMIT 2;", [(499,), (1499,)]),
        ("SELECT A FROM T WHERE F > 1000 AND A % 2 = 1 LIMIT 1;", [(2001,)]),
        ("SELECT A FROM T;", [(number,) for number in range(ROWS)]),
        ("SELECT A FROM T LIMIT 1001;", [(number,) for number in range(1001)]),
        ("SELECT A FROM T WHERE A / 0 = 1;", []),
    ],
)
def test_a_query_gives_its_rows(
    barnabas: BarnabasBroker, many: str, shared_folder: Path, text: str, expected: list[tuple[Any, ...]]
) -> None:
    source = table(many, COLUMNS)

    async def run() -> list[tuple[Any, ...]]:
        async with opened(shared_folder, barnabas.address, source) as views:
            return await asked(views, source, text)

    assert asyncio.run(run()) == expected


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("views")


def test_pages_are_small_and_a_query_can_be_left(barnabas: BarnabasBroker, many: str, shared_folder: Path) -> None:
    source = table(many, COLUMNS)
    catalogue = Catalogue({"T": source})
    ready = prepared_pulls(catalogue).learn("SELECT A FROM T;", plan_of("SELECT A FROM T;", catalogue))

    async def run() -> Sequence[int]:
        async with opened(shared_folder, barnabas.address, source) as views:
            async with aclosing(views.pull(ready)) as pages:
                async for page in pages:
                    assert len(page) == PAGE_ROWS
                    break
            async with aclosing(views.pull(ready)) as pages:
                return [len(page) async for page in pages]

    assert asyncio.run(run()) == [PAGE_ROWS, PAGE_ROWS, ROWS - 2 * PAGE_ROWS]


@pytest.mark.parametrize("name", ["T", "S"])
@pytest.mark.parametrize(
    ("budget", "message"),
    [(Budget(rows=PAGE_ROWS), "looks at more than 1000 rows"), (Budget(seconds=0), "takes longer than 0 s")],
    ids=["rows", "time"],
)
def test_a_query_that_looks_at_too_much_is_ended(
    barnabas: BarnabasBroker, many: str, shared_folder: Path, name: str, budget: Budget, message: str
) -> None:
    source = table(many, COLUMNS) if name == "T" else stream(many, COLUMNS)

    async def run() -> None:
        async with opened(shared_folder, barnabas.address, table(many, COLUMNS)) as views:
            with pytest.raises(BudgetSpent, match=message):
                await asked(views, source, f"SELECT A FROM {name} WHERE UCASE(L[1]) = 'none';", budget)

    asyncio.run(run())


def test_a_query_that_is_cancelled_stops(barnabas: BarnabasBroker, many: str, shared_folder: Path) -> None:
    source = table(many, COLUMNS)
    text = "SELECT A FROM T WHERE UCASE(K) = 'none';"

    async def run() -> None:
        async with opened(shared_folder, barnabas.address, source) as views:
            asking = asyncio.create_task(asked(views, source, text))
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            # The threads are free again.
            assert await asked(views, source, "SELECT A FROM T WHERE A = 3 OR A = 4;") == [(3,), (4,)]

    asyncio.run(run())


def test_windows_of_a_key_come_page_by_page(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    window = KeyWindow(WindowKind.TUMBLING, 10)
    starts = range(0, 3_000, 10)
    WrittenTopic(barnabas.address, topic).write(
        (b"a" + window_suffix(window, start, start + 10), {"A": start}) for start in starts
    )
    source = replace(table(topic, {"A": INTEGER}), key_window=window)

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            assert await asked(views, source, "SELECT A FROM T WHERE K = 'a';") == [(start,) for start in starts]
            few = await asked(views, source, "SELECT A FROM T WHERE K = 'a' LIMIT 250;")
            assert few == [(start,) for start in starts[:250]]
            bounded = "SELECT A FROM T WHERE K = 'a' AND WINDOWSTART >= 20 AND WINDOWEND <= 50;"
            assert await asked(views, source, bounded) == [(20,), (30,), (40,)]

    asyncio.run(run())


def test_a_stream_is_read_to_its_end(kafka: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    written = WrittenTopic(kafka.address, topic, 3)
    written.write([("a", {"A": 1}), ("b", b"no JSON"), ("a", {"A": 2}), ("c", None)])
    written.write([("d", {"A": 3})], partition=1)
    written.write_transaction([("e", {"A": 4})], is_committed=True)
    source = stream(topic, {"A": INTEGER})
    source = replace(source, schema=replace(source.schema, headers=(HeaderColumn("H", None),)))

    async def run() -> None:
        async with opened(tmp_path, kafka.address) as views:
            rows = await asked(views, source, "SELECT K, A * 10 AS X FROM S WHERE A > 1;")
            assert sorted(rows) == [("a", 20), ("d", 30), ("e", 40)]
            assert len(await asked(views, source, "SELECT * FROM S LIMIT 2;")) == 2
            assert (await asked(views, source, "SELECT H FROM S WHERE A = 3;")) == [([],)]

    asyncio.run(run())


def test_what_cannot_be_asked_is_said(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    source = table(topic, {"A": INTEGER})

    async def run() -> None:
        async with opened(tmp_path, barnabas.address) as views:
            with pytest.raises(
                SqlProblem, match=rf"T is not materialized: .* SELECT \* FROM topic\('{topic}'\); shows"
            ):
                await asked(views, source, "SELECT * FROM T;")
            with pytest.raises(SqlProblem, match=f"Topic {topic} cannot be read"):
                await asked(views, stream(topic, {"A": INTEGER}), "SELECT * FROM S;")
            await views.follow([source])
            with pytest.raises(SqlProblem, match="T was made anew in the meantime"):
                await asked(views, table(topic, {"A": INTEGER, "B": INTEGER}), "SELECT * FROM T;")

    asyncio.run(run())
