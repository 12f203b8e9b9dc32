"""The records of a stream or a topic that a look asks for, page by page: those that it has when the look begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from streams_sql.analysis.pushdown import pushed_down
from streams_sql.analysis.relation import read
from streams_sql.analysis.scope import NamedSource
from streams_sql.bounded.pages import Account, ResultRow
from streams_sql.evaluation.compiler import OnError
from streams_sql.formats.serde import RegistryAccess
from streams_sql.local.limits import StateTooLarge
from streams_sql.local.reading import Figures
from streams_sql.local.run import LocalRun
from streams_sql.local.run import ResultRow as ToldRow
from streams_sql.plan.conjuncts import columns_in
from streams_sql.plan.nodes import Filter, Node, Project, PullPlan, PushPlan, Shape
from streams_sql.plan.records import OnProblem
from streams_sql.plan.spans import ALL, Span
from streams_sql.problem import SqlProblem
from streams_sql.sources import PSEUDO_COLUMNS, ROWTIME, Column, RecordPart, Source

NAMING_FORMATS: Final = frozenset({"JSON", "JSON_SR", "AVRO", "PROTOBUF"})
MANY_COLUMNS: Final = 2
"""A single column may stand alone in its records."""


def look_span(plan: PullPlan, asked: Span = ALL) -> Span:
    """The part of a topic that has to be read: what is asked for, and of that what the condition leaves over. The last records are those
    of all, and not of those for which a condition is true."""
    return asked if asked.last is not None else asked.narrowed(pushed_down(plan.condition, plan.source))


def look_node(plan: PullPlan) -> Node:
    """The look as operators on the records of its source."""
    source = _pruned(plan.source, {*columns_in((plan.condition, plan.columns))})
    node: Node = read(NamedSource(source.name, source), "")
    if plan.condition is not None:
        node = Filter(node, plan.condition, node.shape)
    made = [Column(named.name, named.expression.type) for named in plan.columns if named.expression.type is not None]
    if not any(column.name == ROWTIME for column in made):
        made.append(Column(ROWTIME, PSEUDO_COLUMNS[ROWTIME]))
    return Project(node, plan.columns, Shape(tuple(made), (), node.shape.is_table))


def _pruned(source: Source, needed: set[str]) -> Source:
    """The source with those columns of its values alone that are asked for, where its format finds columns by their names; one stays in any
    case, so that what cannot be decoded at all is noticed. Whoever asks for what is wrong with records has all of them decoded."""
    columns = source.schema.value
    shows_errors = any(column.part is RecordPart.ERROR for column in source.record_columns)
    if source.value_format.name not in NAMING_FORMATS or len(columns) < MANY_COLUMNS or shows_errors:
        return source
    kept = needed if source.timestamp is None else needed | {source.timestamp.column}
    value = tuple(column for column in columns if column.name in kept) or columns[:1]
    use = replace(source.value_format, is_wrapped=True)
    return replace(source, schema=replace(source.schema, value=value), value_format=use)


class RunPages:
    """The pages of operators over topics. Kafka is asked when the first page is; what is read is taken from the account."""

    def __init__(
        self,
        plan: PushPlan,
        spans: Mapping[str, Span],
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        account: Account,
        on_problem: OnProblem,
        on_error: OnError,
    ) -> None:
        self._account = account
        self._is_interrupted = False
        self._run: LocalRun | None = None
        self._open: Callable[[], LocalRun] = lambda: LocalRun(
            plan, settings, registry, on_problem, on_error, spans, is_ordered=True
        )

    @property
    def figures(self) -> Figures:
        return Figures() if self._run is None else self._run.figures

    def told(self) -> Sequence[ToldRow] | None:
        """The next rows; None at the end. SqlProblem."""
        if self._is_interrupted:
            return None
        self._account.begin()
        before = self.figures.records
        try:
            if self._run is None:
                self._run = self._open()
            return self._run.page()
        except StateTooLarge as problem:
            raise SqlProblem(str(problem)) from None
        finally:
            self._account.end(self.figures.records - before)

    @property
    def run(self) -> LocalRun:
        assert self._run is not None, "a page was asked for before"
        return self._run

    def interrupt(self) -> None:
        self._is_interrupted = True
        if self._run is not None:
            self._run.interrupt()

    def close(self) -> None:
        if self._run is not None:
            self._run.close()


class TopicPages(RunPages):
    """The records of one source."""

    def __init__(
        self,
        plan: PullPlan,
        settings: Mapping[str, Any],
        registry: RegistryAccess | None,
        account: Account,
        on_problem: OnProblem,
        on_error: OnError,
        asked: Span = ALL,
    ) -> None:
        node = look_node(plan)
        columns = tuple(Column(named.name, named.expression.type) for named in plan.columns if named.expression.type)
        spans = {plan.source.topic: look_span(plan, asked)}
        super().__init__(PushPlan(node, columns, plan.limit), spans, settings, registry, account, on_problem, on_error)

    def page(self) -> list[ResultRow] | None:
        rows = self.told()
        return None if rows is None else [row for row, _ in rows]
