"""A query that follows another one, to go on in its place: how far it may read, and whether it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from streams_sql.spark.driver.messages import StartQuery
from streams_sql.spark.sources.checkpoints import Folder, Reached, reached
from streams_sql.spark.sources.positions import TopicState, resolved
from streams_sql.spark.sources.topic_states import GroupOffset


def former_reached(session: SparkSession, command: StartQuery, topics: Mapping[str, TopicState]) -> Reached:
    """How far the query that this one follows has read what both read; where that has never run, it is to begin where this one does."""
    former = command.follows
    assert former is not None
    found = reached(Folder(session, former.checkpoint), topics)
    shared = {topic: state for topic, state in topics.items() if topic in former.topics}
    begun = {topic: resolved(command.starting_offsets, topic, state) for topic, state in shared.items()}
    return replace(
        found,
        offsets={topic: found.offsets.get(topic, first) for topic, first in begun.items()},
        furthest={topic: found.furthest.get(topic, first) for topic, first in begun.items()},
    )


def records_left(read: Reached, wanted: Reached) -> int:
    """Up to the wanted positions."""
    return sum(
        max(at - read.offsets.get(topic, {}).get(partition, 0), 0)
        for topic, offsets in wanted.offsets.items()
        for partition, at in offsets.items()
    )


def is_written_beyond(name: str, read: Reached, topics: Mapping[str, TopicState], marks: Iterable[GroupOffset]) -> bool:
    """Whether tasks of a query have written rows, exactly once, of a batch that is not done (see `transactions`). `name` begins the names
    of the groups of its marks, which may be those of topics and checkpoints that are no more."""
    for mark in marks:
        if mark.group.startswith(f"{name}/{read.id}/"):
            is_beyond = mark.offset > read.batch + 1
        elif mark.topic in read.offsets and mark.group.endswith(f"/{topics[mark.topic].id}"):
            is_beyond = mark.offset > read.offsets[mark.topic].get(mark.partition, 0)
        else:
            is_beyond = False
        if is_beyond:
            return True
    return False
