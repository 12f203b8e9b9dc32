"""Views follow their topics."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from streams_sql.language.statements import Window, WindowKind
from streams_sql.plan.records import window_suffix
from streams_sql.sources import KeyWindow, Source
from streams_sql.sql_types import BIGINT, INTEGER, STRING
from streams_sql.views.layout import MS_PER_DAY, retention_ms
from streams_sql.views.store import PROBLEMS_MAX
from streams_sql.views.views import View, Views, ViewStatus
from tests.broker import BarnabasBroker, BrokerProcess
from tests.conftest import StartBroker
from tests.streams_sql.views.tables import asked, opened, table
from tests.streams_sql.views.written_topic import WrittenTopic
from tests.waiting import wait_for_async

ALL = "SELECT K, A FROM T;"


def view_of(views: Views) -> View:
    view = views.view("T")
    assert view is not None
    return view


async def until(views: Views, condition: Callable[[ViewStatus], bool], what: str) -> None:
    async def is_so() -> bool:
        return condition(view_of(views).status())

    await wait_for_async(is_so, what)


def test_a_view_holds_the_latest_row_of_each_key(kafka: BrokerProcess, topic: str, tmp_path: Path) -> None:
    written = WrittenTopic(kafka.address, topic, 2)
    written.write([("a", {"A": 1}), ("b", {"a": 2}), ("a", {"A": 3}), ("c", {"A": 4}), ("c", None)])
    written.write([("d", {"A": 5})], partition=1, timestamp_ms=7_000)
    written.write_transaction([("e", {"A": 6})], is_committed=True)
    written.write_transaction([("f", {"A": 7})], is_committed=False)
    source = table(topic, {"A": INTEGER})

    async def run() -> None:
        async with opened(tmp_path, kafka.address, source) as views:
            await until(views, lambda status: status.lag == 0, "the end of the transactions")
            assert await asked(views, source, ALL) == [("a", 3), ("b", 2), ("d", 5), ("e", 6)]
            assert await asked(views, source, "SELECT ROWTIME FROM T WHERE K = 'd';") == [(7_000,)]
            written.write([("b", None), ("g", {"A": 8})])
            await view_of(views).progress.reach({0: 11, 1: 1})
            assert await asked(views, source, ALL) == [("a", 3), ("d", 5), ("e", 6), ("g", 8)]
            status = view_of(views).status()
            assert (status.problem_count, status.stream_time_ms, status.is_caught_up) == (0, 7_000, True)

    asyncio.run(run())


def test_a_restart_goes_on_where_the_view_was(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    written = WrittenTopic(barnabas.address, topic)
    written.write([("a", {"A": 1}), ("b", {"A": 2})])
    source = table(topic, {"A": INTEGER})

    async def rows() -> list[tuple[object, ...]]:
        async with opened(tmp_path, barnabas.address, source) as views:
            return await asked(views, source, ALL)

    assert asyncio.run(rows()) == [("a", 1), ("b", 2)]
    written.write([("b", {"A": 3})])
    # What has been read is not there any more, so that only the view can know it.
    written.delete_records(before=2)
    assert asyncio.run(rows()) == [("a", 1), ("b", 3)]
    source = replace(source, statement="CREATE OR REPLACE TABLE …")
    assert asyncio.run(rows()) == [("a", 1), ("b", 3)]


def test_another_definition_builds_the_view_anew(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    WrittenTopic(barnabas.address, topic).write([("a", {"A": 1, "B": "x"})])
    old, new = table(topic, {"A": INTEGER}), table(topic, {"A": INTEGER, "B": STRING})

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, old) as views:
            await views.follow([new])
            await view_of(views).progress.catch_up()
            assert await asked(views, new, "SELECT * FROM T;") == [("a", 1, "x")]
            await views.follow([])
            assert views.view("T") is None

    asyncio.run(run())
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_built_anew(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    WrittenTopic(barnabas.address, topic).write([("a", {"A": 1})])
    source = table(topic, {"A": INTEGER})

    async def run() -> list[tuple[object, ...]]:
        async with opened(tmp_path, barnabas.address, source) as views:
            return await asked(views, source, ALL)

    assert asyncio.run(run()) == [("a", 1)]
    (file,) = (tmp_path / "T").glob("*.db")
    file.write_bytes(b"this is no database" * 1_000)
    assert asyncio.run(run()) == [("a", 1)]


@pytest.mark.parametrize(
    ("kind", "size_ms", "bounds", "expected"),
    [
        (WindowKind.TUMBLING, 10, [(0, 10), (10, 20)], [("a", 0, 10, 0), ("a", 10, 20, 1)]),
        (WindowKind.SESSION, None, [(5, 9), (5, 12)], [("a", 5, 9, 0), ("a", 5, 12, 1)]),
    ],
    ids=["tumbling", "session"],
)
def test_windows_are_part_of_the_key(
    barnabas: BarnabasBroker,
    topic: str,
    tmp_path: Path,
    kind: WindowKind,
    size_ms: int | None,
    bounds: list[tuple[int, int]],
    expected: list[tuple[object, ...]],
) -> None:
    window = KeyWindow(kind, size_ms)
    keys = [b"a" + window_suffix(window, *bound) for bound in bounds]
    written = WrittenTopic(barnabas.address, topic)
    written.write([(keys[0], {"A": 7}), (keys[1], {"A": 1}), (keys[0], {"A": 0})])
    source = replace(table(topic, {"A": BIGINT}), key_window=window)

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            assert await asked(views, source, "SELECT * FROM T WHERE K = 'a';") == expected
            later = "SELECT A FROM T WHERE K = 'a' AND WINDOWEND > 10 LIMIT 5;"
            assert await asked(views, source, later) == [(1,)]
            written.write([(keys[1], None)])
            await view_of(views).progress.reach({0: 4})
            assert await asked(views, source, "SELECT * FROM T;") == expected[:1]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("size_ms", "grace_ms", "kept_ms"),
    [
        (1_000, None, MS_PER_DAY),
        (7 * MS_PER_DAY, None, 7 * MS_PER_DAY),
        (1_000, 0, MS_PER_DAY),
        (MS_PER_DAY, 5_000, MS_PER_DAY + 5_000),
    ],
)
def test_windows_are_kept_for_a_day_or_as_long_as_they_change(size_ms: int, grace_ms: int | None, kept_ms: int) -> None:
    assert retention_ms(Window(WindowKind.TUMBLING, size_ms, grace_ms=grace_ms)) == kept_ms


def test_windows_that_ended_long_ago_are_deleted(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    window = Window(WindowKind.TUMBLING, 1_000, retention_ms=10_000)
    source = replace(table(topic, {"A": BIGINT}), key_window=KeyWindow(window.kind, 1_000), window=window)
    written = WrittenTopic(barnabas.address, topic)

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            for number, start_ms in enumerate((0, 5_000, 20_000)):
                key = b"a" + struct.pack(">q", start_ms)
                written.write([(key, {"A": number})], timestamp_ms=start_ms + 500)
                await view_of(views).progress.reach({0: number + 1})
            assert await asked(views, source, "SELECT WINDOWSTART, A FROM T;") == [(20_000, 2)]

    asyncio.run(run())


def test_records_that_cannot_be_read_are_counted_and_kept(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    source = table(topic, {"A": INTEGER}, {"K": STRING, "L": INTEGER})
    written = WrittenTopic(barnabas.address, topic)
    good, incomplete = b'{"K": "a", "L": 1}', b'{"K": "a", "L": null}'
    written.write([(good, b"{"), (good, {"A": 1}), (incomplete, {"A": 2}), (good, {"A": "x"})])
    written.write([(good, b"{")] * PROBLEMS_MAX)

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            assert await asked(views, source, "SELECT * FROM T;") == [("a", 1, 1)]
            assert view_of(views).status().problem_count == PROBLEMS_MAX + 3
            problems = view_of(views).problems()
            assert len(problems) == PROBLEMS_MAX
            assert (problems[0].topic, problems[0].partition, problems[0].offset) == (topic, 0, PROBLEMS_MAX + 3)
            assert "not JSON" in problems[0].reason

    asyncio.run(run())
    written.write([(incomplete, {"A": 2})])

    async def again() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            (latest, *_) = view_of(views).problems()
            assert latest.reason == "A column of its key is NULL: a row of a table needs a whole one"
            assert view_of(views).status().problem_count == PROBLEMS_MAX + 4

    asyncio.run(again())


def test_a_topic_that_is_made_anew_is_read_anew(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    written = WrittenTopic(barnabas.address, topic)
    written.write([("a", {"A": 1}), ("b", {"A": 2})])
    source = table(topic, {"A": INTEGER})

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            assert len(await asked(views, source, ALL)) == 2
            written.delete()
            written.make()
            written.write([("c", {"A": 3})])

            async def is_new() -> bool:
                return await asked(views, source, ALL) == [("c", 3)]

            await wait_for_async(is_new, "the rows of the new topic alone")

    asyncio.run(run())


def test_new_partitions_are_read(barnabas: BarnabasBroker, topic: str, tmp_path: Path) -> None:
    written = WrittenTopic(barnabas.address, topic)
    source = table(topic, {"A": INTEGER})

    async def run() -> None:
        async with opened(tmp_path, barnabas.address, source) as views:
            written.grow(3)
            written.write([("a", {"A": 1})], partition=2)
            async with asyncio.timeout(90):
                await view_of(views).progress.reach({2: 1})
            assert await asked(views, source, ALL) == [("a", 1)]
            assert view_of(views).status().positions == {0: 0, 1: 0, 2: 1}

    asyncio.run(run())


def test_a_view_waits_for_its_topic_and_for_its_broker(start_broker: StartBroker, topic: str, tmp_path: Path) -> None:
    broker = start_broker()
    source = table(topic, {"A": INTEGER})

    async def run(views: Views, source: Source) -> None:
        await views.start()
        await views.follow([source])
        await until(views, lambda status: status.problem == f"There is no topic {topic}.", "the missing topic")
        written = WrittenTopic(broker.address, topic)
        written.write([("a", {"A": 1})])
        await view_of(views).progress.reach({0: 1})
        await asyncio.to_thread(broker.stop)
        await until(views, lambda status: status.problem is not None, "the broker that is away")
        assert await asked(views, source, ALL) == [("a", 1)]
        await asyncio.to_thread(broker.start)
        written.write([("b", {"A": 2})])
        async with asyncio.timeout(90):
            await view_of(views).progress.reach({0: 2})
        await until(views, lambda status: status.problem is None, "that all is well again")
        assert await asked(views, source, ALL) == [("a", 1), ("b", 2)]

    async def main() -> None:
        views = Views(tmp_path / "views", {"bootstrap.servers": broker.address}, watch_interval_s=0.1)
        try:
            await run(views, source)
        finally:
            await views.stop()

    asyncio.run(main())


def test_a_view_stays_when_another_query_fills_its_table(kafka: BrokerProcess, topic: str, tmp_path: Path) -> None:
    """Whoever asks in that moment, by the definition of before or of after, gets rows."""
    written = WrittenTopic(kafka.address, topic, 1)
    written.write([("a", {"A": 1})])
    source = table(topic, {"A": INTEGER})
    replaced = replace(source, statement="CREATE OR REPLACE TABLE …", query_id="CTAS_T_2")

    async def run() -> None:
        async with opened(tmp_path, kafka.address, source) as views:
            await view_of(views).progress.reach({0: 1})
            view = view_of(views)
            assert await asked(views, replaced, ALL) == [("a", 1)]
            await views.follow([replaced])
            assert view_of(views) is view
            assert await asked(views, source, ALL) == [("a", 1)]

    asyncio.run(run())
