"""The suite for sinks lets sound ones pass, and each of its tests bites."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from connect.api.plugin import Plugin
from connect.api.record import Record
from connect.api.sink import Sink
from connect.compliance.sink import SinkCompliance
from tests.connect.compliance.sample_connectors import (
    STORE,
    Careless,
    Disordered,
    Forgetful,
    Misleading,
    Store,
    StoreSink,
    Sweeping,
    Telling,
    Whole,
    sink_plugin,
)


@pytest.fixture(autouse=True)
def _store() -> Iterator[None]:
    STORE.append(Store())
    yield
    STORE.pop()


class TestStore(SinkCompliance):
    plugin = sink_plugin(StoreSink)

    def arrange(self, folder: Path) -> Mapping[str, str]:
        return {"password": "open-sesame"}

    def written(self, folder: Path) -> Sequence[int]:
        return STORE[-1].rows

    def bad_record(self, number: int) -> Record:
        return Record("t", {"id": number, "bad": True})

    @contextmanager
    def away(self, folder: Path) -> Iterator[None]:
        STORE[-1].is_away = True
        yield
        STORE[-1].is_away = False


class TestOneThatIsRefusedAsAWhole(TestStore):
    plugin: Plugin = sink_plugin(Whole)  # type: ignore[misc]  # a class variable there


@pytest.mark.parametrize(
    ("kind", "test", "said"),
    [
        (Disordered, "everything_is_written_in_order", r"which holds \[9, 8, 7"),
        (Forgetful, "a_flush_makes_durable", r"which holds \[\]"),
        (Misleading, "a_task_that_died_is_followed_by_one_that_loses_nothing", "yet writes records twice"),
        (Forgetful, "a_task_that_died_is_followed_by_one_that_loses_nothing", "records are lost"),
        (Sweeping, "a_bad_row_is_rejected_alone", r"the record at place 4 is bad, and \[0, 1, 2"),
        (Careless, "a_target_that_is_away_is_waited_for", "DID NOT RAISE"),
        (Telling, "a_target_that_is_away_is_waited_for", "the message tells a secret"),
    ],
)
def test_a_defect_is_found(kind: type[Sink[Any]], test: str, said: str, tmp_path: Path) -> None:
    suite = TestStore()
    suite.plugin = sink_plugin(kind)  # type: ignore[misc]  # of this one instance
    with pytest.raises((AssertionError, pytest.fail.Exception), match=said):
        getattr(suite, f"test_{test}")(tmp_path)
