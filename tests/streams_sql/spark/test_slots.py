from __future__ import annotations

import asyncio
import os

import pytest

from streams_sql.language.statements import JoinKind, Within
from streams_sql.plan.nodes import PersistentPlan, Shape, StreamJoin
from streams_sql.spark.driver.masters import is_local, slots_of
from streams_sql.spark.driver.messages import Event, Open, QueryFailed, SlotsChanged, StartQuery, Trigger
from streams_sql.spark.driver.process import Driver
from streams_sql.spark.driver.slots import NoSlots, SlotCount, slots
from streams_sql.spark.sources.broker_access import KafkaAccess
from streams_sql.sql_types import STRING
from tests.streams_sql.spark.query_plans import column, doubled, read, source

REAL_TIME = Trigger(5000, is_real_time=True)


def test_only_real_time_queries_hold_slots() -> None:
    plan = doubled("in", "out")
    assert (slots(plan, Trigger(200), {"in": 3}), slots(plan, REAL_TIME, {"in": 3})) == (0, 3)


def test_every_topic_that_is_read_counts() -> None:
    left, right = (read(source(name, {"K": STRING}, {"A": STRING}), f"{name}_") for name in ("l", "r"))
    keys = column(left, "l_K"), column(right, "r_K")
    node = StreamJoin(left, right, *keys, JoinKind.INNER, Within(1, 1), Shape((), ()))
    assert slots(PersistentPlan(node, source("out", {}, {})), REAL_TIME, {"l": 2, "r": 4}) == 6


def test_one_slot_stays_free() -> None:
    count = SlotCount("local[4]")
    count.take("a", 2)
    count.take("a", 2)
    with pytest.raises(NoSlots, match=r"b holds 2 of Spark's 4 task slots"):
        count.take("b", 2)
    count.take("c", 0)
    count.give_back("a")
    count.take("b", 3)


def test_a_cluster_has_slots_once_it_is_there() -> None:
    count = SlotCount("spark://127.0.0.1:7077")
    count.take("a", 100)
    count.available = 2
    with pytest.raises(NoSlots):
        count.take("b", 1)


@pytest.mark.parametrize(
    ("master", "slots", "is_here"),
    [
        ("local", 1, True),
        ("local[3]", 3, True),
        ("local[3,2]", 3, True),
        ("local[*]", len(os.sched_getaffinity(0)), True),
        ("", 4 * len(os.sched_getaffinity(0)), True),
        ("spark://127.0.0.1:7077", None, False),
        ("yarn", None, False),
    ],
)
def test_slots_of_a_master_are_known_if_it_is_here(master: str, slots: int | None, is_here: bool) -> None:
    assert (slots_of(master), is_local(master)) == (slots, is_here)


def test_a_topic_that_grows_beyond_the_slots_ends_its_query() -> None:
    asyncio.run(grow_beyond_the_slots())


async def grow_beyond_the_slots() -> None:
    events: list[Event] = []
    driver = Driver(Open("local[4]", {}, KafkaAccess("127.0.0.1:1")), events.append)
    driver.start_query(StartQuery("q", doubled("in", "out"), "c", "earliest", REAL_TIME, slots=2))
    driver.handle(SlotsChanged("q", 3))
    assert events == [SlotsChanged("q", 3)]
    driver.handle(SlotsChanged("q", 4))
    (failed,) = [event for event in events if isinstance(event, QueryFailed)]
    assert failed.cause.startswith(
        "A topic that it reads has more partitions than before. Query q holds 4 of Spark's 4"
    )
    # What it held is free again.
    driver.check_slots("another", 3)
