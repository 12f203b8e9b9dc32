"""Ranges of topics as spans: times as numbers, and what goes together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from streams_sql.analysis.catalogue_view import CatalogueView, known_source
from streams_sql.analysis.query_parts import relations
from streams_sql.analysis.timestamps import milliseconds_of
from streams_sql.language.expressions import Literal
from streams_sql.language.statements import Ago, AtOffset, AtTime, Point, Query, TopicRange
from streams_sql.plan.spans import ALL, Span
from streams_sql.problem import SqlProblem

TAIL_MAX: Final = 100_000
"""Records of TAIL: all of them are looked at before the first is shown."""


def asked_spans(query: Query, catalogue: CatalogueView, now_ms: int) -> dict[str, Span]:
    """By the name of the topic, for those that the query asks for a part of."""
    found: dict[str, Span] = {}
    seen: dict[str, str] = {}
    for relation in relations(query):
        span = ALL if relation.range is None else _span(relation.range, now_ms)
        topic = known_source(catalogue, relation.name, relation.position).topic
        if topic in seen and found.get(topic, ALL) != span:
            raise SqlProblem(
                f"{seen[topic]} and {relation.alias} are both of topic {topic}, which is read once: give both the same range.",
                relation.position,
            )
        seen[topic] = relation.alias
        if span != ALL:
            found[topic] = span
    return found


def check_live(ranges: Iterable[TopicRange | None]) -> None:
    """A query with EMIT goes on: it may say where it begins, and not where it ends."""
    for asked in ranges:
        if asked is not None and asked.until is not None:
            raise SqlProblem(
                "A query with EMIT has no end: it may begin at SINCE … or TAIL n. Leave out EMIT for a part of a topic with an end.",
                asked.position,
            )


def _span(asked: TopicRange, now_ms: int) -> Span:
    if asked.tail is not None and asked.tail > TAIL_MAX:
        raise SqlProblem(f"TAIL {asked.tail} is more than {TAIL_MAX}, which is the most: use SINCE.", asked.position)
    since, until = _ends(asked.since, now_ms), _ends(asked.until, now_ms)
    _check_direction(since, until, asked)
    return Span(
        partitions=frozenset(asked.partitions) or None,
        from_offset=since[0],
        to_offset=until[0],
        from_time_ms=since[1],
        to_time_ms=until[1],
        last=asked.tail,
    )


def _check_direction(
    since: tuple[int | None, int | None], until: tuple[int | None, int | None], asked: TopicRange
) -> None:
    for first, end in zip(since, until, strict=True):
        if first is not None and end is not None and first >= end:
            raise SqlProblem("The range ends before it begins: there is nothing in it.", asked.position)


def _ends(point: Point | None, now_ms: int) -> tuple[int | None, int | None]:
    """An offset or a time."""
    match point:
        case None:
            return None, None
        case AtOffset(offset):
            return offset, None
        case Ago(span_ms):
            return None, max(0, now_ms - span_ms)
        case AtTime():
            return None, max(0, _milliseconds(point) + point.is_behind)


def _milliseconds(time: AtTime) -> int:
    return int(time.text) if time.is_number else milliseconds_of(time.text, Literal(time.text, position=time.position))
