"""Every aggregate that Spark has by itself, on real Spark, over several partitions, batches and runs, beside a recomputation with its reference."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from streams_sql.plan.nodes import Aggregate, AggregateCall, PersistentPlan
from streams_sql.plan.pipeline import chain_of
from streams_sql.processors.accumulation import accumulator_of
from streams_sql.typed import Column
from tests.streams_sql.engine.catalogues import Statements
from tests.streams_sql.spark.query_plans import MINUTE, SECOND, T0
from tests.streams_sql.spark.query_runs import QueryRun

PARTITIONS = 3
BATCHES = 3
RECORDS = 120
"""In each batch."""
KEYS = [f"key {number}" for number in range(6)]
SIZE_MS, ADVANCE_MS = MINUTE, 30 * SECOND
# Times of records differ by less than the grace period, so that none comes too late.
SPREAD_MS = 3 * MINUTE
COLUMNS = {"I": "INT", "L": "BIGINT", "D": "DOUBLE", "X": "DECIMAL(10,2)", "S": "STRING", "TS": "TIMESTAMP"}
CALLS = (
    *("COUNT(*)", "COUNT(I)", "SUM(I)", "SUM(L)", "SUM(D)", "SUM(X)", "AVG(I)", "AVG(L)", "AVG(D)", "AVG(X)"),
    *(f"{name}({column})" for name in ("MIN", "MAX") for column in COLUMNS),
    *("LATEST_BY_OFFSET(S)", "LATEST_BY_OFFSET(S, false)", "LATEST_BY_OFFSET(I, 3)", "LATEST_BY_OFFSET(I, 3, false)"),
    *(
        "EARLIEST_BY_OFFSET(S)",
        "EARLIEST_BY_OFFSET(S, false)",
        "EARLIEST_BY_OFFSET(I, 3)",
        "EARLIEST_BY_OFFSET(I, 3, false)",
    ),
    *("COUNT_DISTINCT(L)", "TOPK(I, 3)", "TOPK(D, 2)", "TOPK(X, 2)", "TOPKDISTINCT(X, 2)"),
)

Row = dict[str, Any]


def made_rows(batch: int) -> list[tuple[str, Row, int]]:
    choice = random.Random(batch)
    rows = []
    for number in range(RECORDS):
        values: Row = {
            "I": choice.choice((2**31 - 1, -5, 0, choice.randrange(1000))),
            "L": choice.choice((2**53, -(2**60), choice.randrange(20))),
            "D": choice.choice((0.5, -2.25, 1e9, choice.random())),
            "X": choice.randrange(-10_000, 10_000) / 100,
            "S": choice.choice(("", "ä", "😀", f"text {choice.randrange(30)}")),
            "TS": choice.randrange(2**40),
        }
        present = {name: None if choice.random() < 0.15 else value for name, value in values.items()}
        at = T0 + (batch * RECORDS + number) * SECOND // 4 + choice.randrange(SPREAD_MS)
        rows.append((choice.choice(KEYS), present, at))
    return rows


def plan_of(topic: str, sink: str) -> PersistentPlan:
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    source = f"CREATE STREAM W (K STRING KEY, {columns}) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
    calls = ", ".join(f"{call} AS C{place}" for place, call in enumerate(CALLS))
    query = Statements(source).query(
        f"CREATE TABLE X WITH (KAFKA_TOPIC='{sink}') AS SELECT K, {calls} FROM W "
        "WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 30 SECONDS, GRACE PERIOD 1 HOUR) GROUP BY K;"
    )
    return query.plan


def windows(at: int) -> Iterator[int]:
    last = at - at % ADVANCE_MS
    return (start for start in range(last, at - SIZE_MS, -ADVANCE_MS))


def expected(plan: PersistentPlan, rows: list[tuple[str, Row, int]]) -> dict[tuple[str, int], list[Any]]:
    """What each window of each key comes to: all records of a key are in one partition, in the order in which they were written."""
    node = chain_of(plan.node).base
    assert isinstance(node, Aggregate)
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for key, values, at in rows:
        for start in windows(at):
            groups[key, start].append(values)
    return {group: [accumulated(call, members) for call in node.aggregates] for group, members in groups.items()}


def accumulated(call: AggregateCall, members: list[Row]) -> Any:
    accumulator = accumulator_of(call)
    state = accumulator.start()
    for values in members:
        state = accumulator.add(state, *[argument_of(argument, values) for argument in call.arguments])
    return accumulator.result(state)


def argument_of(argument: Any, values: Row) -> Any:
    assert isinstance(argument, Column)
    value = values[argument.name]
    return Decimal(str(value)).quantize(Decimal("0.01")) if argument.name == "X" and value is not None else value


def agree(call: str, found: Any, wanted: Any) -> bool:
    if call.startswith("COUNT_DISTINCT"):
        return math.isclose(found, wanted, rel_tol=0.02)
    if isinstance(wanted, Decimal):
        return Decimal(str(found)) == wanted
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], Decimal):
        return [Decimal(str(value)) for value in found] == wanted
    if isinstance(wanted, float):
        # Sums of floating point numbers depend on their order.
        return math.isclose(found, wanted, rel_tol=1e-9)
    return bool(found == wanted)


def test_every_aggregate_is_what_its_reference_makes_of_the_records(run: QueryRun) -> None:
    topic, sink = run.topic("in", PARTITIONS), run.topic("out")
    plan, rows, written = plan_of(topic, sink), list[tuple[str, Row, int]](), 0
    for batch in range(BATCHES):
        rows += made_rows(batch)
        run.write(topic, made_rows(batch))
        query_id = run.start(plan)
        written += sum(progress.written_rows for progress in run.settled(RECORDS))
        # What is known is kept from run to run.
        run.stop(query_id)
    wanted = expected(plan, rows)
    found = {
        (key[:-8].decode(), int.from_bytes(key[-8:], "big")): json.loads(value or b"{}")
        for key, value in run.topics.read_bytes(sink, written)
        if key is not None
    }
    assert found.keys() == wanted.keys()
    differences = [
        f"{call} of {group}: {found[group][f'C{place}']!r} on Spark, {value!r} by the reference"
        for group, values in wanted.items()
        for place, (call, value) in enumerate(zip(CALLS, values, strict=True))
        if not agree(call, found[group][f"C{place}"], value)
    ]
    assert not differences, "\n".join(differences[:20])
