"""Where Spark's Python workers find their code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_workers_import_the_installed_package(spark: SparkSession) -> None:
    def origin(_: int) -> str:
        return pyspark.__file__

    found = spark.sparkContext.parallelize([0], 1).map(origin).collect()
    assert found == [pyspark.__file__]
