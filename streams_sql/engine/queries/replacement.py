"""What CREATE OR REPLACE may change: of a source that others may already read, and of a query that has read and knows something."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from streams_sql.language.statements import Within
from streams_sql.plan.hosting import Hosting, hosting_of
from streams_sql.plan.nodes import (
    Aggregate,
    Filter,
    FlatMap,
    ForeignKeyJoin,
    LookupJoin,
    Named,
    Node,
    PersistentPlan,
    Project,
    Read,
    Rekey,
    StreamJoin,
    TableJoin,
    UnionAll,
    reads_of,
)
from streams_sql.plan.pipeline import chain_of, chains_of
from streams_sql.plan.text import expression_text
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, Source
from streams_sql.typed import Typed

_INSTEAD: Final = (
    "Create another one beside it, or terminate the query, drop it and create it anew (with SET 'auto.offset.reset'='earliest' it then "
    "reads all that its topics have)."
)


def check_replacement(former: Source, source: Source) -> None:
    """SqlProblem where records that are in the topic, or queries that read it, would come to mean something else."""
    cannot = f"Cannot replace {former.kind.value.lower()} {former.name}"
    for what, before, after in (
        ("the topic", former.topic, source.topic),
        ("the key format", former.key_format, source.key_format),
        ("the value format", former.value_format, source.value_format),
        ("the window of the key", former.key_window, source.key_window),
        ("the timestamp column", former.timestamp, source.timestamp),
    ):
        if before != after:
            raise SqlProblem(
                f"{cannot}: {what} would change from {before or 'none'} to {after or 'none'}. Drop it and create it again."
            )
    if former.schema.key != source.schema.key:
        raise SqlProblem(
            f"{cannot}: (Key columns must be identical). The key would change from {_text(former.schema.key)} to "
            f"{_text(source.schema.key)}. Drop it and create it anew."
        )
    kept = {column.name: column.type for column in source.schema.value}
    for column in former.schema.value:
        if kept.get(column.name) != column.type:
            raise SqlProblem(
                f"{cannot}: (The following columns are changed, missing or reordered: [{column}]). Columns may be added at the "
                "end, and no more. Drop it and create it anew."
            )


def _text(columns: tuple[Column, ...]) -> str:
    return ", ".join(map(str, columns)) or "none"


def obstacle(former: PersistentPlan, plan: PersistentPlan) -> str | None:
    """A query that is replaced goes on from where the former one was, with what that knew: why this would not mean what the statement
    says, None if it would. Spark itself would not always refuse: below an aggregate it takes another condition in silence, and keeps
    what was counted without it."""
    before, after = _topics(former), _topics(plan)
    if before != after:
        return f"it has read {', '.join(before)}, and would go on in {', '.join(after)}, of which it has read nothing."
    for one, other in zip_longest(_gathered(former.node), _gathered(plan.node)):
        if one is None or other is None or one.what != other.what:
            return "what it has gathered so far is not what it would gather then."
        if one.value != other.value:
            return (
                f"{one.what} would change from {one.text} to {other.text}, and what it has gathered so far was made with the former. "
                "Only what is done with the results may change: columns and HAVING."
            )
    return None


def not_replaced(plan: PersistentPlan, reason: str) -> SqlProblem:
    """Where no other query can be built beside it."""
    return SqlProblem(
        f"Cannot replace the query of {plan.sink.kind.value.lower()} {plan.sink.name}: {reason} {_INSTEAD}"
    )


def _topics(plan: PersistentPlan) -> list[str]:
    return sorted({read.source.topic for read in reads_of(plan.node)})


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that the state of a query depends on."""

    what: str
    value: Hashable
    text: str


def _gathered(node: Node) -> Iterator[_Part]:
    """All that the state of a query depends on."""
    chain = chain_of(node)
    hosting = hosting_of(node)
    filters = [each for each in chain.operators if isinstance(each, Filter) and each.shape.is_table]
    if hosting is Hosting.SHARDS and isinstance(chain.base, Read):
        yield _rows("what is chosen", filters[-1])
        return
    yield from _kept(chain.base)
    if hosting is Hosting.SHARDS:
        # To report rows that do not pass any more, it has to know them.
        yield _Part("whether rows are chosen", bool(filters), "some of them" if filters else "all of them")
    yield _Part("how it is run", hosting, hosting.value)


def _kept(node: Node) -> Iterator[_Part]:
    match node:
        case Aggregate():
            yield _rows("what is grouped", node.input)
            yield _named("GROUP BY", node.keys)
            calls = [(call.function, call.arguments, call.constants, call.column) for call in node.aggregates]
            texts = [f"{call.function}({', '.join(map(expression_text, call.arguments))})" for call in node.aggregates]
            yield _Part("the aggregates", tuple(calls), ", ".join(texts))
            # How long windows are kept for those who ask is not Spark's affair.
            window = None if node.window is None else replace(node.window, retention_ms=None)
            yield _Part("the window", window, "none" if window is None else _window_text(node))
            yield _Part("EMIT", node.emit, node.emit.value)
        case UnionAll():
            # What was read is noted place by place.
            topics = [read.source.topic for read in reads_of(node)]
            yield _Part("what is put together", tuple(topics), ", ".join(topics))
            for place, each in enumerate(node.inputs, 1):
                yield from _stateful(f"query {place} of UNION ALL", each)
        case LookupJoin():
            # Of the rows of the stream nothing is kept.
            yield from _stateful("the stream of the join", node.stream)
            yield from _side("the table", node.table)
            yield _Part("the type of the join's key", node.stream_key.type, str(node.stream_key.type))
        case StreamJoin() | TableJoin() | ForeignKeyJoin():
            yield from _side("the left side", node.left)
            yield from _side("the right side", node.right)
            for what, key in _join_keys(node):
                yield _Part(what, key, expression_text(key))
            within = node.within if isinstance(node, StreamJoin) else None
            text = node.kind.value if within is None else f"{node.kind.value} {_within_text(within)}"
            yield _Part("the join", (type(node), node.kind, within), text)


def _stateful(what: str, node: Node) -> Iterator[_Part]:
    """What is kept below a node that keeps nothing of its rows."""
    if any(not isinstance(chain.base, Read) for chain in chains_of(node)):
        yield _rows(what, node)


def _side(side: str, node: Node) -> Iterator[_Part]:
    yield _rows(f"{side} of the join", node)
    yield _Part(f"the columns of {side}", node.shape.columns, _text(node.shape.columns))


def _join_keys(node: StreamJoin | TableJoin | ForeignKeyJoin) -> Iterator[tuple[str, Typed]]:
    match node:
        case StreamJoin():
            yield "the key of the left side", node.left_key
            yield "the key of the right side", node.right_key
        case ForeignKeyJoin():
            yield "the foreign key", node.foreign_key


def _within_text(within: Within) -> str:
    grace = "" if within.grace_ms is None else f" GRACE PERIOD {within.grace_ms} MILLISECONDS"
    return f"WITHIN ({within.before_ms} MILLISECONDS, {within.after_ms} MILLISECONDS){grace}"


def _window_text(node: Aggregate) -> str:
    window = node.window
    assert window is not None
    spans = {"SIZE": window.size_ms, "ADVANCE BY": window.advance_ms, "GRACE PERIOD": window.grace_ms}
    return f"{window.kind.value} ({', '.join(f'{word} {span} ms' for word, span in spans.items() if span is not None)})"


def _rows(what: str, node: Node) -> _Part:
    """The rows that an operator with state is given: from which records, and which of them."""
    chain = chain_of(node)
    steps: list[Hashable] = []
    texts = []
    for operator in chain.operators:
        match operator:
            case Filter(_, condition):
                steps.append(condition)
                texts.append(f"WHERE {expression_text(condition)}")
            case Project(_, columns) | Rekey(_, columns):
                steps.append(columns)
            case FlatMap(_, functions):
                steps.append(functions)
                texts += [expression_text(call) for _, call in functions]
    if isinstance(chain.base, Read):
        source = chain.base.source
        steps.append((source.topic, source.key_format, source.value_format, source.timestamp))
    else:
        steps.append(tuple(part.value for part in _kept(chain.base)))
    return _Part(what, tuple(steps), " and ".join(texts) or "all rows")


def _named(what: str, columns: tuple[Named, ...]) -> _Part:
    return _Part(what, columns, ", ".join(expression_text(column.expression) for column in columns))
