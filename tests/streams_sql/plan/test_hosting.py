"""Which operators with state are Spark's own, and which run in shards."""

from __future__ import annotations

import pytest

from streams_sql.plan.hosting import Hosting, hosting_of
from tests.streams_sql.analysis.catalogues import Sources, planned, sources


@pytest.fixture(scope="module")
def catalogue() -> Sources:
    return sources(
        "CREATE STREAM s (k INT KEY, a INT) WITH (kafka_topic='s')",
        "CREATE STREAM r (k INT KEY, b INT) WITH (kafka_topic='r')",
        "CREATE STREAM w (k INT KEY, a INT) WITH (kafka_topic='w', window_type='TUMBLING', window_size='1 SECOND')",
        "CREATE STREAM v (k INT KEY, a INT) WITH (kafka_topic='v', window_type='TUMBLING', window_size='1 SECOND')",
        "CREATE TABLE t (k INT PRIMARY KEY, v INT, f INT) WITH (kafka_topic='t')",
        "CREATE TABLE u (k INT PRIMARY KEY, w INT) WITH (kafka_topic='u')",
    )


@pytest.mark.parametrize(
    ("made", "hosting"),
    [
        ("STREAM made AS SELECT * FROM s WHERE a > 1", Hosting.STATELESS),
        ("TABLE made AS SELECT k, v FROM t", Hosting.STATELESS),
        ("TABLE made AS SELECT * FROM t WHERE v > 1", Hosting.SHARDS),
        ("TABLE made AS SELECT a, COUNT(*) FROM s GROUP BY a", Hosting.NATIVE),
        ("TABLE made AS SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY a", Hosting.SHARDS),
        ("TABLE made AS SELECT a, LATEST_BY_OFFSET(k) FROM s GROUP BY a", Hosting.SHARDS),
        ("TABLE made AS SELECT a, COUNT(*) FROM s WINDOW SESSION (1 SECOND) GROUP BY a", Hosting.SHARDS),
        ("TABLE made AS SELECT a, COUNT(*) FROM s GROUP BY a HAVING COUNT(*) > 1", Hosting.SHARDS),
        (
            "TABLE made AS SELECT a, COUNT(*) FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY a HAVING COUNT(*) > 1 EMIT FINAL",
            Hosting.SHARDS,
        ),
        ("TABLE made AS SELECT a, HISTOGRAM(CAST(a AS STRING)) FROM s GROUP BY a", Hosting.SHARDS),
        ("TABLE made AS SELECT a, COLLECT_SET(k) FROM s GROUP BY a", Hosting.SHARDS),
        ("TABLE made AS SELECT v, COUNT(*) FROM t GROUP BY v", Hosting.SHARDS),
        ("TABLE made AS SELECT s.a, COUNT(*) FROM s JOIN t ON s.k = t.k GROUP BY s.a", Hosting.SHARDS),
        ("STREAM made AS SELECT * FROM s JOIN r WITHIN 1 SECOND ON s.k = r.k", Hosting.SHARDS),
        ("STREAM made AS SELECT * FROM s LEFT JOIN r WITHIN 1 SECOND ON s.k = r.k", Hosting.SHARDS),
        (
            "STREAM made AS SELECT * FROM s LEFT JOIN r WITHIN 1 SECOND GRACE PERIOD 1 SECOND ON s.k = r.k",
            Hosting.SHARDS,
        ),
        ("STREAM made AS SELECT * FROM w JOIN v WITHIN 1 SECOND ON w.k = v.k", Hosting.SHARDS),
        ("STREAM made AS SELECT * FROM s JOIN t ON s.k = t.k", Hosting.SHARDS),
        ("STREAM made AS SELECT * FROM s JOIN r WITHIN 1 SECOND ON s.k = r.k JOIN t ON s.k = t.k", Hosting.SHARDS),
        ("TABLE made AS SELECT * FROM t JOIN u ON t.k = u.k", Hosting.SHARDS),
        ("TABLE made AS SELECT * FROM t JOIN u ON t.f = u.k", Hosting.SHARDS),
    ],
)
def test_hosting(catalogue: Sources, made: str, hosting: Hosting) -> None:
    assert hosting_of(planned(f"CREATE {made}", catalogue).node) is hosting
