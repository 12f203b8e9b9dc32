"""What tests of streams_sql share: one Spark session for each process of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.sql_service import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(spark_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark in this process, as the driver process has it."""
    from streams_sql.spark.session import open_session  # it takes a second, which tests without Spark need not wait

    folder = str(tmp_path_factory.mktemp("spark"))
    settings = {"spark.log.level": "OFF", "spark.local.dir": folder, "spark.driver.extraJavaOptions": QUICK_JAVA}
    session = open_session("local[4]", settings)
    yield session
    session.stop()
