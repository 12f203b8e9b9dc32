from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streams_sql.spark.driver.messages import Event
from streams_sql.spark.sources.broker_access import KafkaAccess
from tests.broker import BarnabasBroker
from tests.streams_sql.spark.query_runs import QueryRun, Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def run(spark: SparkSession, barnabas: BarnabasBroker, tmp_path: Path) -> Iterator[QueryRun]:
    from streams_sql.spark.driver.query_host import QueryHost

    events: list[Event] = []
    host = QueryHost(spark, KafkaAccess(barnabas.address), None, events.append, "test_")
    topics = Topics(barnabas.address, f"s{secrets.token_hex(4)}")
    yield QueryRun(host, tmp_path, topics, events)
    host.stop_all()
    topics.close()
