"""Random queries give what a recomputation from all their records gives: in process, bounded, and on real Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.broker import BarnabasBroker
from tests.sql_service import SqlProcess
from tests.streams_sql.recomputation.bounded_host import BoundedHost
from tests.streams_sql.recomputation.case_topics import CaseTopics
from tests.streams_sql.recomputation.cases import RECORDS, Case, random_case
from tests.streams_sql.recomputation.comparison import Host, verdict, verdicts
from tests.streams_sql.recomputation.local_host import LocalHost
from tests.streams_sql.recomputation.shrinking import shrunk
from tests.streams_sql.recomputation.spark_host import SparkHost

LOCAL_SEEDS = range(10_000, 10_300)
BOUNDED_SEEDS = range(20_000, 20_040)
SPARK_SEEDS = range(30_000, 30_006)
LONG_QUERIES = {"local": 20_000, "bounded": 2_000, "spark": 120}
LONG_RECORDS = (30, 300, 3_000)
REJECTED_SHARE_MAX = 0.1
SHRINK_ATTEMPTS = 300


@pytest.fixture
def topics(barnabas: BarnabasBroker) -> CaseTopics:
    return CaseTopics(barnabas.address)


@pytest.fixture
def spark_host(sql_service: SqlProcess, topics: CaseTopics) -> Iterator[SparkHost]:
    host = SparkHost(sql_service, topics)
    yield host
    host.close()


def check(host: Host, cases: list[Case], shrink_attempts: int = SHRINK_ATTEMPTS) -> None:
    """Fail with the smallest case that is wrong."""
    rejected = 0
    for found in verdicts(host, [case for case in cases if host.takes(case.query)]):
        rejected += found.is_rejected
        if found.is_wrong:
            smallest = shrunk(found.case, lambda case: verdict(host, case).is_wrong, shrink_attempts)
            pytest.fail(f"{found}\n\nthe smallest case that is wrong:\n{verdict(host, smallest)}")
    assert rejected <= REJECTED_SHARE_MAX * len(cases), "most queries must be accepted, else little is compared"


def test_queries_in_process() -> None:
    check(LocalHost(), [random_case(seed) for seed in LOCAL_SEEDS])


def test_bounded_queries(topics: CaseTopics) -> None:
    check(BoundedHost(topics), [random_case(seed) for seed in BOUNDED_SEEDS])


def test_queries_on_spark(spark_host: SparkHost) -> None:
    check(spark_host, [random_case(seed) for seed in SPARK_SEEDS], shrink_attempts=0)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("sizes", [RECORDS, LONG_RECORDS], ids=["small", "large"])
def test_many_queries_in_process(sizes: tuple[int, ...]) -> None:
    check(LocalHost(), [random_case(seed, sizes) for seed in range(LONG_QUERIES["local"] // len(sizes))])


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_many_bounded_queries(topics: CaseTopics) -> None:
    check(BoundedHost(topics), [random_case(seed) for seed in range(LONG_QUERIES["bounded"])])


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("is_disturbed", [False, True], ids=["plain", "disturbed"])
def test_many_queries_on_spark(sql_service: SqlProcess, topics: CaseTopics, is_disturbed: bool) -> None:
    """Disturbed: processes are killed, and inputs paused."""
    with closing(SparkHost(sql_service, topics, is_disturbed)) as host:
        check(host, [random_case(seed) for seed in range(LONG_QUERIES["spark"])], shrink_attempts=30)
