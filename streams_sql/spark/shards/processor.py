"""A shard as Spark sees it: a group of `transformWithState`.

At each start of a query Spark loads it in a process of its own, to be told what state it has, and waits for that: so what works on rows, and
the plan, are loaded with the first of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from streams_sql.plan.nodes import Node


class ShardProcessor(StatefulProcessor):
    """`run` is the name of one run of a query; `rows_max` are the rows and values that each operator keeps in memory. `is_spread`: there
    is more than one shard."""

    def __init__(self, run: str, node: Node, rows_max: int, is_spread: bool = False) -> None:
        self._run = run
        self._node = pickle.dumps(node)
        self._rows_max = rows_max
        self._is_spread = is_spread

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._entries = handle.getMapState("entries", "number BIGINT", "mark BINARY, entry BINARY")
        self._mark = handle.getValueState("mark", "mark BINARY, first BIGINT, whole_next BIGINT, next BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[SparkRow], timerValues: Any) -> Iterator[SparkRow]:  # noqa: N802, N803
        from streams_sql.spark.shards.tasks import ShardTask

        name = (self._run, key[0])
        return ShardTask(name, self._node, self._rows_max, self._is_spread, self._entries, self._mark).run(rows)

    def close(self) -> None:
        pass
