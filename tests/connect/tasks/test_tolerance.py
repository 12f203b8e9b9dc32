"""What the log says of records that are passed over."""

from __future__ import annotations

import pytest

from connect.errors import DataError
from connect.tasks.dead_letter_queue import SHOWN_MAX_BYTES, Origin, Stage
from connect.tasks.settings import error_settings
from connect.tasks.skipped_records import TELL_INTERVAL_S, SkippedRecords
from connect.tasks.spec import TaskId
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.tolerance import Tolerance

TASK = TaskId("files", 0)
OF_SOURCE = Origin("t", b"k", b"v" * (SHOWN_MAX_BYTES + 1))


def of_sink(offset: int) -> Origin:
    return Origin("t", b"k", b"secret", partition=3, offset=offset, timestamp_ms=77)


def tolerance(**settings: str) -> Tolerance:
    config = {name.replace("_", "."): value for name, value in settings.items()}
    return Tolerance(error_settings({"errors.tolerance": "all", **config}), TASK, TaskMetrics(is_source=False), None)


def test_without_a_line_for_each_they_are_told_together(caplog: pytest.LogCaptureFixture) -> None:
    now_s = 100.0
    skipped = SkippedRecords(TASK, lambda: now_s)
    for offset in range(5):
        skipped.note(of_sink(offset), Stage.TASK_PUT, DataError(f"no room for {offset}"))
    skipped.tell_if_due()
    (first,) = caplog.messages
    assert "files-0 has passed over 1 bad record (" in first
    assert "TASK_PUT of a record of t-3 at offset 0: no room for 0;" in first
    now_s += TELL_INTERVAL_S
    skipped.tell_if_due()
    assert "4 bad records" in caplog.messages[1]
    assert "at offset 4: no room for 4;" in caplog.messages[1]
    skipped.note(of_sink(9), Stage.TASK_PUT, DataError(""))
    skipped.tell()
    skipped.tell()
    assert len(caplog.messages) == 3
    assert "at offset 9: DataError;" in caplog.messages[2]


def test_a_sink_without_settings_of_its_log_tells_of_them(caplog: pytest.LogCaptureFixture) -> None:
    tolerance().reject(of_sink(5), Stage.TASK_PUT, object(), DataError("too long"))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "t-3 at offset 5: too long" in caplog.text


@pytest.mark.parametrize(
    ("origin", "contents", "end"),
    [
        (of_sink(5), "false", ", with a record of t-3 at offset 5."),
        (of_sink(5), "true", ", with a record of t-3 at offset 5, timestamp 77."),
        (OF_SOURCE, "false", ", with a record of the topic t."),
        (OF_SOURCE, "true", f", with a record of the topic t, key b'k', value {b'v' * SHOWN_MAX_BYTES!r}."),
    ],
)
def test_a_line_for_each_says_where_it_was(
    origin: Origin, contents: str, end: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = tolerance(errors_log_enable="true", errors_log_include_messages=contents)
    asked.reject(origin, Stage.TASK_PUT, object(), DataError("too long"))
    (message,) = caplog.messages
    assert message == f"Error encountered in task files-0. Executing stage 'TASK_PUT' with class 'object'{end}"
    assert "too long" in caplog.text, "and why"
