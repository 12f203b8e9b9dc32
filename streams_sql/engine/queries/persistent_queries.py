"""The life of persistent queries: those of the catalogue run while this server leads, and come back when they fail."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from streams_sql.engine.catalogue.catalogue import PersistentQuery
from streams_sql.engine.queries.error_log import MS_PER_S, QUERY_FAILED, ErrorLog
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.engine.queries.query_status import QueryEvent, QueryState, QueryStatus
from streams_sql.engine.statements.function_rules import NO_FUNCTIONS, FunctionRules
from streams_sql.plan.nodes import reads_of
from streams_sql.problem import SqlProblem
from streams_sql.progress.catch_up import LAG_S, CatchUp
from streams_sql.spark.driver.messages import (
    BadRecord,
    Event,
    Explained,
    FailureKind,
    Guarantee,
    Idle,
    Noted,
    Progress,
    QueryFailed,
    Ready,
    Settled,
    SlotsChanged,
    Started,
    StartQuery,
    Stopped,
    Unavailable,
)
from streams_sql.spark.driver.slots import NoSlots

BACK_OFF_FIRST_S: Final = 5.0
BACK_OFF_LAST_S: Final = 300.0
TOPIC_LOOK_S: Final = 5.0
"""Between two looks for a topic that is missing."""
NOTES_MAX: Final = 10
"""Kept in mind for each query."""
EXAMPLES_MAX: Final = 10
"""Errors of its data in the status of a query."""
EXPLAIN_TIMEOUT_S: Final = 10.0

_logger = logging.getLogger(__name__)


class SparkDriver(Protocol):
    """What runs the queries: the process with Spark."""

    def start_query(self, command: StartQuery) -> None:
        """NoSlots if Spark has no room for it."""

    def stop_query(self, query_id: str) -> None: ...

    def settle_query(self, query_id: str) -> None: ...

    def forget_query(self, query_id: str, folder: str) -> None: ...

    def explain_query(self, query_id: str) -> None: ...


@dataclass(slots=True)
class _Run:
    """A query as this server runs it. `failures` are those since its last sign of life; `is_refitted` says that since then it has been
    started again for topics that have changed."""

    query: PersistentQuery
    command: StartQuery | None
    state: QueryState = QueryState.STARTING
    error: str | None = None
    why_batches: str | None = None
    failures: int = 0
    is_refitted: bool = False
    error_ms: int = 0
    totals: Counter[str] = field(default_factory=Counter)
    notes: deque[QueryEvent] = field(default_factory=lambda: deque(maxlen=NOTES_MAX))
    progress: Progress | None = None
    restart: asyncio.TimerHandle | None = None
    reading: CatchUp | None = None
    warnings: dict[str, str] = field(default_factory=dict)


def _ignore(_query_id: str) -> None:
    """Where no query replaces another one."""


class PersistentQueries:
    """`on_caught_up` is called with the id of a query that was built to replace another one, and may do so now."""

    def __init__(
        self,
        driver: SparkDriver,
        settings: QuerySettings,
        errors: ErrorLog,
        functions: FunctionRules = NO_FUNCTIONS,
        on_caught_up: Callable[[str], None] = _ignore,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._functions = functions
        self._errors = errors
        self._clock = clock
        self._driver = driver
        self._settings = settings
        self._runs: dict[str, _Run] = {}
        self._explanations: dict[str, asyncio.Future[str | None]] = {}
        self._unavailable: str | None = None
        self._is_ready = False
        self._held: frozenset[str] = frozenset()
        self._unsettled: dict[str, str | None] = {}
        self._on_caught_up = on_caught_up

    # --- what should run ---

    def reconcile(self, queries: Iterable[PersistentQuery], *, are_resumed: bool = False) -> None:
        """Run these queries, as they are now, and no others. With `are_resumed`, those that begin here have run before."""
        known = {query.id: query for query in queries}
        wanted = {query.id: query for query in known.values() if not query.is_paused}
        for query_id, run in list(self._runs.items()):
            if wanted.get(query_id) != run.query:
                self.stop(query_id)
        for query_id, query in wanted.items():
            if query_id not in self._runs and query_id not in self._held:
                self._start(query, known.get(query.rebuilds or ""), is_resumed=are_resumed)

    def hold(self, query_ids: Iterable[str]) -> None:
        """Stop these queries, and let no one start them, until others are held."""
        self._held = frozenset(query_ids)
        for query_id in self._held:
            self.stop(query_id)

    def settle(self, query_id: str) -> None:
        """Stop a query that follows one that is held when it is as far as that, and hold it, too."""
        self._held |= {query_id}
        self._unsettled[query_id] = "It does not run, or the Spark process has ended meanwhile."
        if self._ended(query_id):
            self._driver.settle_query(query_id)

    def unsettled(self, query_id: str) -> str | None:
        """Why a query that has been settled cannot go on in the place of the one that it follows; None if it can."""
        return self._unsettled.pop(query_id)

    def stop(self, query_id: str) -> None:
        if self._ended(query_id):
            self._driver.stop_query(query_id)

    def forget(self, query_id: str) -> None:
        """The query is gone for good, and so is what Spark knew for it."""
        self._ended(query_id)
        self._errors.forget(query_id)
        self._driver.forget_query(query_id, self._settings.checkpoints(query_id))

    def _ended(self, query_id: str) -> bool:
        run = self._runs.pop(query_id, None)
        if run is not None and run.restart is not None:
            run.restart.cancel()
        return run is not None

    def _start(self, query: PersistentQuery, former: PersistentQuery | None, *, is_resumed: bool) -> None:
        run = self._runs[query.id] = _Run(query, None, why_batches=query.why_batches)
        try:
            self._functions.check(query.plan)
            run.command = replace(self._settings.start_command(query, former), is_resumed=is_resumed)
        except SqlProblem as problem:
            self._set_error(run, f"{problem.message} The query cannot run: terminate it.")
            _logger.error("query %s cannot run: %s", query.id, problem.message)
        else:
            _logger.info(
                "query %s is %s: from %s into %s",
                query.id,
                "resumed" if is_resumed else "started",
                ", ".join(sorted(query.reads)),
                query.writes,
            )
            if not self._is_ready:
                _logger.info("query %s waits for Spark, which is not up yet", query.id)
            topics = {read.source.topic for read in reads_of(query.plan.node)}
            run.reading = CatchUp(topics, LAG_S + run.command.trigger.interval_ms / MS_PER_S)
            self._launch(run.command)

    def _launch(self, command: StartQuery) -> None:
        try:
            self._driver.start_query(command)
        except NoSlots as problem:
            self.on_event(QueryFailed(command.query_id, str(problem), str(problem)))

    # --- events of the driver ---

    def on_event(self, event: Event) -> None:
        match event:
            case Ready():
                self._unavailable = None
                self._is_ready = True
            case Unavailable(reason):
                self._unavailable = reason
                self._is_ready = False
            case Settled(query_id, problem):
                self._unsettled[query_id] = problem
            case Explained(query_id, text):
                waiting = self._explanations.pop(query_id, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(text)
            case _:
                run = self._runs.get(event.query_id)
                if run is not None:
                    self._on_query_event(run, event)

    def _on_query_event(
        self, run: _Run, event: Started | Idle | Progress | QueryFailed | Noted | SlotsChanged | Stopped
    ) -> None:
        match event:
            case Started():
                # Whether it gets beyond what it failed at is not known yet.
                if run.error is None:
                    self._runs_now(run)
            case Idle():
                self._is_well(run)
                if run.reading is not None:
                    run.reading.report_idle(time.monotonic())
                self._caught_up(run)
            case Progress():
                self._is_well(run)
                run.progress = event
                if run.reading is not None and event.read:
                    run.reading.report(event.read, has_held=bool(event.held_rows))
                run.totals.update(
                    read=event.input_rows, written=event.written_rows, bad=event.bad_records, failed=event.failed
                )
                for example in event.examples:
                    self._note_example(run, example)
                if event.lag == 0 and not event.held_rows:
                    self._caught_up(run)
            case Noted(text=text):
                self._note(run, text)
            case SlotsChanged(slots=slots):
                run.command = None if run.command is None else replace(run.command, slots=slots)
            case QueryFailed():
                self._failed(run, event)

    def _note_example(self, run: _Run, example: BadRecord) -> None:
        if not example.is_warning:
            self._errors.note(run.query.id, example)
        elif example.reason:
            run.warnings[example.part] = example.reason
            _logger.warning("query %s: %s", run.query.id, example.reason)
        else:
            run.warnings.pop(example.part, None)

    def _caught_up(self, run: _Run) -> None:
        if run.query.rebuilds is not None:
            self._on_caught_up(run.query.id)

    def note(self, query_id: str, text: str) -> None:
        """Something that was decided for a query."""
        run = self._runs.get(query_id)
        if run is not None:
            self._note(run, text)

    def _is_well(self, run: _Run) -> None:
        self._runs_now(run)
        run.error, run.failures, run.is_refitted = None, 0, False

    def _runs_now(self, run: _Run) -> None:
        if run.state is not QueryState.RUNNING:
            _logger.info("query %s is running", run.query.id)
        run.state = QueryState.RUNNING

    def _note(self, run: _Run, text: str) -> None:
        run.notes.append(QueryEvent(self._now_ms(), text))
        _logger.warning("query %s: %s", run.query.id, text)

    def _failed(self, run: _Run, failed: QueryFailed) -> None:
        assert run.command is not None, "what was not started does not fail"
        if self._is_put_right(run, run.command, failed):
            run.state = QueryState.STARTING
            self._start_again(run, 0.0)
            return
        if failed.kind is FailureKind.TOPIC_MISSING:
            self._fail(run, failed, TOPIC_LOOK_S)
        else:
            delay_s = min(BACK_OFF_FIRST_S * 2**run.failures, BACK_OFF_LAST_S)
            self._fail(run, failed, delay_s, f" It is started again after {delay_s:g} s.")
        run.failures += 1

    def _is_put_right(self, run: _Run, command: StartQuery, failed: QueryFailed) -> bool:
        """Whether another start can do without what the query has failed at, and with what it is to be started."""
        match failed.kind:
            case FailureKind.NEEDS_PYTHON if command.trigger.is_real_time:
                run.command = self._settings.in_batches(run.query, command)
                run.why_batches = failed.cause
                self._note(run, f"It runs in batches from now on, and not in real-time mode. {failed.cause}")
            case FailureKind.NEW_SCHEMA if failed.schema_id is not None and failed.schema_id not in command.schema_ids:
                run.command = replace(command, schema_ids=command.schema_ids | {failed.schema_id})
                _logger.info("query %s is started again for the schema %d", run.query.id, failed.schema_id)
            case FailureKind.TOPICS_CHANGED if not run.is_refitted:
                run.is_refitted = True
                _logger.warning("query %s is started again: %s", run.query.id, failed.cause)
            case _:
                return False
        return True

    def _fail(self, run: _Run, failed: QueryFailed, delay_s: float, more: str = "") -> None:
        error = failed.cause + more
        if failed.record is not None:
            error += f" The record: {failed.record.text}"
        if error != run.error:
            self._errors.note_failure(run.query.id, failed.cause, failed.record)
            _logger.error("query %s failed, and is started again after %g s: %s", run.query.id, delay_s, failed.cause)
            _logger.debug("where query %s failed: %s", run.query.id, failed.details)
        self._set_error(run, error)
        self._start_again(run, delay_s)

    def _set_error(self, run: _Run, error: str) -> None:
        run.state, run.error, run.error_ms = QueryState.ERROR, error, self._now_ms()

    def _now_ms(self) -> int:
        return int(self._clock() * MS_PER_S)

    def _start_again(self, run: _Run, delay_s: float) -> None:
        run.restart = asyncio.get_running_loop().call_later(delay_s, self._restart, run)

    def _restart(self, run: _Run) -> None:
        run.restart = None
        if run.command is not None:
            self._launch(run.command)

    # --- status ---

    def state(self, query: PersistentQuery) -> QueryState:
        """As `status` has it, for those who ask thousands of times a second."""
        run = self._runs.get(query.id)
        if run is not None:
            return run.state
        return QueryState.PAUSED if query.is_paused else QueryState.UNRESPONSIVE

    def reading(self, query: PersistentQuery) -> CatchUp | None:
        """How far a query has read; None if this server does not run it."""
        run = self._runs.get(query.id)
        return None if run is None else run.reading

    def status(self, query: PersistentQuery) -> QueryStatus:
        run = self._runs.get(query.id)
        sink = replace(query.plan.sink, topic=query.plan.target)
        status = QueryStatus(query.id, query.statement, sink, self.state(query), rebuilds=query.rebuilds)
        if run is None:
            return status
        examples = [error for error in self._errors.newest(query.id) if error.kind != QUERY_FAILED][:EXAMPLES_MAX]
        error = run.error
        if run.state is QueryState.STARTING and self._unavailable is not None:
            error = self._unavailable
        return replace(
            status,
            error=error,
            error_ms=run.error_ms or self._now_ms(),
            bad_records=run.totals["bad"],
            examples=tuple(QueryEvent(each.time_ms, each.text, "USER") for each in reversed(examples)),
            notes=tuple(run.notes),
            mode="" if run.command is None else _rebuilding(run) + _mode(run.command, run.why_batches),
            metrics=_metrics(run),
            totals=dict(run.totals),
            backlog=None if run.reading is None else run.reading.backlog,
            warnings=tuple(f"Query {query.id}: {text}" for text in run.warnings.values()),
        )

    async def spark_plan(self, query_id: str) -> str:
        """Spark's plan of a running query; empty where it has none yet."""
        run = self._runs.get(query_id)
        if run is None or run.state is not QueryState.RUNNING:
            return ""
        waiting = self._explanations.setdefault(query_id, asyncio.get_running_loop().create_future())
        self._driver.explain_query(query_id)
        try:
            return await asyncio.wait_for(asyncio.shield(waiting), EXPLAIN_TIMEOUT_S) or ""
        except TimeoutError:
            return ""


def _rebuilding(run: _Run) -> str:
    if run.query.rebuilds is None:
        return ""
    left = "" if run.progress is None else f", in {run.progress.lag} records"
    return f"Is built to take the place of {run.query.rebuilds} when it has caught up{left}\n"


def _mode(command: StartQuery, why_batches: str | None) -> str:
    interval = f"{command.trigger.interval_ms} ms"
    if command.trigger.is_real_time:
        return (
            f"Runs in real-time mode: a checkpoint each {interval}, task slots: {command.slots}, writes at least once"
        )
    times = "exactly" if command.guarantee is Guarantee.EXACTLY_ONCE else "at least"
    reason = "" if why_batches is None else f"; not in real-time mode: {why_batches}"
    return f"Runs in batches each {interval}, writes {times} once{reason}"


def _metrics(run: _Run) -> dict[str, float]:
    progress = run.progress
    if progress is None:
        return {}
    backlog = None if run.reading is None else run.reading.backlog
    return {
        "rows-per-second": progress.rows_per_second,
        "input-rows": progress.input_rows,
        "written-rows": progress.written_rows,
        "lag": progress.lag if backlog is None else backlog.behind,
        "state-rows": progress.state_rows,
        "held-rows": progress.held_rows,
        "batch-ms": progress.duration_ms,
    }
