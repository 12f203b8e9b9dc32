"""Plans as EXPLAIN shows them."""

from __future__ import annotations

import pickle

import pytest

from streams_sql.analysis.pull import plan_pull
from streams_sql.analysis.push import plan_push
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.text import plan_text
from tests.streams_sql.analysis.catalogues import Sources, planned, query_of, sources

S = "STREAM `S` (topic s, key KAFKA, value JSON): `K` INTEGER KEY, `V` INTEGER, `A` ARRAY<INTEGER>"
T = "TABLE `T` (topic t, key KAFKA, value JSON): `ID` INTEGER KEY, `W` STRING"


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k INT KEY, v INT, a ARRAY<INT>) WITH (kafka_topic='s')",
        "CREATE STREAM r (k INT KEY, x STRING) WITH (kafka_topic='r')",
        "CREATE TABLE t (id INT PRIMARY KEY, w STRING) WITH (kafka_topic='t')",
    )


PERSISTENT = {
    "CREATE STREAM m AS SELECT v, UCASE('it''s') AS u, EXPLODE(a) AS e FROM s WHERE v IN (1, 2) AND NOT a IS NULL PARTITION BY v": [
        "Write STREAM `M` (topic M, key KAFKA, value JSON): `V` INTEGER KEY, `U` STRING, `E` INTEGER",
        "  Columns `V`, `U` = UCASE('it''s'), `E` = `KSQL_SYNTH_0`",
        "    A row for each of `KSQL_SYNTH_0` = EXPLODE(`A`)",
        "      Partition by `V`",
        "        Filter ((`V` IN (1, 2)) AND (NOT (`A` IS NULL)))",
        f"          Read {S}",
    ],
    "CREATE TABLE m AS SELECT v, TOPK(k, 2) AS top FROM s WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 2 SECONDS) GROUP BY v EMIT FINAL": [
        "Write TABLE `M` (topic M, key KAFKA, value JSON): `V` INTEGER KEY, `TOP` ARRAY<INTEGER>",
        "  Columns `V`, `TOP` = `KSQL_AGG_VARIABLE_0`",
        "    Group by `V`: `KSQL_AGG_VARIABLE_0` = TOPK(`K`, 2), TUMBLING window (size 1000 ms, grace 2000 ms), when a window is over",
        f"      Read {S}",
    ],
    "CREATE STREAM m AS SELECT s.k, x FROM s LEFT JOIN r WITHIN 1 SECOND GRACE PERIOD 0 SECONDS ON s.k = r.k": [
        "Write STREAM `M` (topic M, key KAFKA, value JSON): `S_K` INTEGER KEY, `X` STRING",
        "  Columns `S_K`, `X` = `R_X`",
        "    Left join of streams on `S_K` = `R_K`, within 1000 ms before and 1000 ms after, grace 0 ms",
        f"      Read {S}",
        "      Read STREAM `R` (topic r, key KAFKA, value JSON): `K` INTEGER KEY, `X` STRING",
    ],
    "CREATE STREAM m AS SELECT id, CASE WHEN w LIKE 'a%' THEN -v ELSE a[1] END AS c FROM s JOIN t ON v = id": [
        "Write STREAM `M` (topic M, key KAFKA, value JSON): `ID` INTEGER KEY, `C` INTEGER",
        "  Columns `ID` = `S_V`, `C` = CASE WHEN (`T_W` LIKE 'a%') THEN -`S_V` ELSE `S_A`[1] END",
        "    Inner join with a table on `S_V`",
        f"      Read {S}",
        f"      Read {T}",
    ],
}


@pytest.mark.parametrize(("text", "wanted"), PERSISTENT.items(), ids=PERSISTENT)
def test_a_persistent_plan_is_shown_step_by_step(catalogue: Sources, text: str, wanted: list[str]) -> None:
    plan = planned(text, catalogue)
    assert plan_text(plan).splitlines() == wanted
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_a_push_plan_is_shown(catalogue: Sources) -> None:
    plan = plan_push(query_of("SELECT v FROM s PARTITION BY NULL EMIT CHANGES LIMIT 2"), catalogue)
    assert plan_text(plan).splitlines() == [
        "Send the first 2 rows",
        "  Columns `V`",
        "    Partition by nothing",
        f"      Read {S}",
    ]


def test_a_pull_plan_is_shown(catalogue: Sources) -> None:
    plan = plan_pull(query_of("SELECT w FROM t WHERE id = 1 LIMIT 2"), catalogue)
    assert isinstance(plan, PullPlan)
    assert plan_text(plan).splitlines() == [
        "Send at most 2 rows",
        "  Columns `W`",
        "    Filter (`ID` = 1)",
        f"      Look at {T}",
    ]
