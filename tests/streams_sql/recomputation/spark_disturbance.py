"""What happens to queries on Spark while they run: processes are killed, and inputs arrive in parts."""

from __future__ import annotations

from random import Random
from typing import Final

from tests.sql_service import SqlProcess
from tests.streams_sql.e2e.spark_processes import SparkProcesses, kill, wait_until_gone
from tests.streams_sql.recomputation.cases import Case
from tests.streams_sql.recomputation.processing_order import merged
from tests.streams_sql.recomputation.sources import Record

PARTS_SHARE: Final = 0.3
"""Of the cases, those whose records come in two parts, with the query paused in between."""
KILL_SHARE: Final = 0.5
"""Of the groups of queries, those during which something is killed."""


def parts(case: Case, random: Random) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """The records that are there when the query starts, and those that are written while it is paused. The first part ends at some place of
    the order in which all are processed, so that the result is the same."""
    if random.random() >= PARTS_SHARE:
        return case.records, ()
    order = merged(case.records, case.query.relation.scans)
    end = random.randint(0, len(order))
    return tuple(order[:end]), tuple(order[end:])


def disturb(service: SqlProcess, random: Random) -> bool:
    """Kill Java, the driver process or the server, or nothing. Returns whether something was killed."""
    if random.random() >= KILL_SHARE:
        return False
    spark = SparkProcesses(service.pid)
    match random.choice(("java", "driver", "server")):
        case "java":
            kill(spark.java())
        case "driver":
            kill(spark.driver())
        case "server":
            started = spark.all()
            service.kill()
            wait_until_gone(started)
            service.start()
    return True
