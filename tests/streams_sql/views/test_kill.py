"""A process that is killed while a view catches up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from streams_sql.sql_types import INTEGER
from tests.broker import BarnabasBroker
from tests.streams_sql.views.tables import asked, opened, table
from tests.streams_sql.views.written_topic import WrittenTopic

RECORDS = 40_000
KEYS = 7_000
KILLS = 2


def test_a_view_equals_its_topic_after_kills_in_the_middle(
    barnabas: BarnabasBroker, topic: str, tmp_path: Path
) -> None:
    expected: dict[str, int] = {}
    records: list[tuple[str | bytes, dict[str, int] | None]] = []
    for number in range(RECORDS):
        key = str(number * 31 % KEYS)
        if number % 11:
            expected[key] = number
            records.append((key, {"A": number}))
        else:
            expected.pop(key, None)
            records.append((key, None))
    WrittenTopic(barnabas.address, topic).write(records)
    killed_at = [kill_in_the_middle(barnabas.address, topic, tmp_path / "views") for _ in range(KILLS)]
    assert 0 < killed_at[0] < RECORDS
    assert killed_at == sorted(killed_at)
    source = table(topic, {"A": INTEGER})

    async def rows() -> list[tuple[object, ...]]:
        async with opened(tmp_path / "views", barnabas.address, source) as views:
            return await asked(views, source, "SELECT K, A FROM T;")

    assert asyncio.run(rows()) == sorted(expected.items())


def kill_in_the_middle(address: str, topic: str, folder: Path) -> int:
    """How far the view was when it was seen last."""
    command = [sys.executable, "-m", "tests.streams_sql.views.catching_up", address, topic, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        positions = [int(process.stdout.readline()) for _ in range(10)]
        process.kill()
    return positions[-1]
