"""The suite for sources lets sound ones pass, and each of its tests bites."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from barnabas.connect import Batch, Idle, Offsets, Record, SourceOffset, source
from connect.api.plugin import Plugin
from connect.api.source import Source
from connect.compliance.source import SourceCompliance
from tests.connect.compliance.sample_connectors import (
    PART,
    Ending,
    Inventing,
    Leaking,
    Losing,
    NotJson,
    Numbers,
    NumberSettings,
    Repeating,
    Trusting,
    source_plugin,
)


class TestClass(SourceCompliance):
    plugin = source_plugin(Numbers)
    config: ClassVar = {"topic": "t"}

    def arrange(self, folder: Path, count: int) -> Mapping[str, str]:
        (folder / "count").write_text(str(count))
        return {"file": str(folder / "count")}


@source("counter")
async def counting(settings: NumberSettings, offsets: Offsets) -> Any:
    """Counts, as a coroutine."""
    position = (offsets.get(PART) or {"next": 0})["next"]
    while True:
        if position < int(await asyncio.to_thread(Path(settings.file).read_text)):
            position += 1
            yield Batch([Record(settings.topic, position)], [SourceOffset(PART, {"next": position})])
        else:
            yield Idle(0.001)


class TestFunction(TestClass):
    plugin: ClassVar[Plugin] = counting
    count = 10


@pytest.mark.parametrize(
    ("kind", "test", "said"),
    [
        (Losing, "reading_goes_on_after_each_batch", "after batch 1 of 6, records are lost"),
        (Repeating, "reading_goes_on_after_each_batch", "after batch 1 of 6, records are read twice"),
        (NotJson, "offsets_are_json", "is another one in JSON"),
        (Ending, "a_source_that_is_read_to_its_end_waits_for_more", "one record came after the end, and 0 were read"),
        (Inventing, "nothing_to_read_is_idle", "there is nothing to read, and yet"),
        (Inventing, "everything_is_read", "the source has 40 records, and 1 were read"),
        (Leaking, "it_closes_what_it_opened", "1 files or sockets are open"),
        (Trusting, "offsets_that_make_no_sense_are_refused", "DID NOT RAISE"),
    ],
)
def test_a_defect_is_found(kind: type[Source[Any]], test: str, said: str, tmp_path: Path) -> None:
    suite = TestClass()
    suite.plugin = source_plugin(kind)  # type: ignore[misc]  # of this one instance
    with pytest.raises((AssertionError, pytest.fail.Exception), match=said):
        getattr(suite, f"test_{test}")(tmp_path)


@pytest.fixture(autouse=True)
def _close_what_leaks() -> Iterator[None]:
    yield
    while Leaking.left:
        Leaking.left.pop().close()
