"""What becomes of a bad record: it ends the task, or it is told of and passed over."""

from __future__ import annotations

import logging

from connect.errors import ConnectError
from connect.tasks.dead_letter_queue import DeadLetterQueue, Origin, Stage
from connect.tasks.settings import ErrorSettings
from connect.tasks.skipped_records import SkippedRecords
from connect.tasks.spec import TaskId
from connect.tasks.task_metrics import TaskMetrics
from connect.tasks.trace import class_name

logger = logging.getLogger(__name__)


class Tolerance:
    """`errors.tolerance`, `errors.log.*` and the dead-letter queue."""

    def __init__(
        self, settings: ErrorSettings, task: TaskId, metrics: TaskMetrics, queue: DeadLetterQueue | None
    ) -> None:
        self._settings = settings
        self._task = task
        self._metrics = metrics
        self._queue = queue
        self.skipped = SkippedRecords(task)

    @property
    def tolerates_all(self) -> bool:
        return self._settings.tolerates_all

    def reject(self, origin: Origin, stage: Stage, executor: object, error: BaseException) -> None:
        """Pass over the record, or ConnectError if none may be."""
        self._metrics.failures += 1
        if self._settings.is_logged:
            self._log(origin, stage, executor, error)
        if not self._settings.tolerates_all:
            raise self._refusal(origin, stage, error) from error
        self._metrics.skipped += 1
        if not self._settings.is_logged:
            self.skipped.note(origin, stage, error)
        if self._queue is not None:
            self._queue.send(origin, stage, executor, error)
            self._metrics.dead_letters += 1

    def _log(self, origin: Origin, stage: Stage, executor: object, error: BaseException) -> None:
        self._metrics.errors_logged += 1
        contents = f", {origin.contents}" if self._settings.are_contents_logged else ""
        logger.error(
            "Error encountered in task %s. Executing stage '%s' with class '%s', with a record of %s%s.",
            self._task, stage.value, class_name(executor), origin, contents, exc_info=error,
        )  # fmt: skip

    @staticmethod
    def _refusal(origin: Origin, stage: Stage, error: BaseException) -> ConnectError:
        reason = str(error) or type(error).__name__
        end = "" if reason.endswith((".", "?", "!")) else "."
        return ConnectError(
            f"{stage.value} failed for a record of {origin}: {reason}{end} With errors.tolerance=all such records are "
            "passed over, and errors.deadletterqueue.topic.name says where they are kept"
        )
