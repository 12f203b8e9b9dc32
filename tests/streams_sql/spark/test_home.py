"""Where Spark's Python workers find their code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from streams_sql.spark.installation import home
from streams_sql.spark.installation.cache import cache_root

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession


def test_workers_import_the_installed_package(spark: SparkSession) -> None:
    def origin(_: int) -> str:
        return pyspark.__file__

    found = spark.sparkContext.parallelize([0], 1).map(origin).collect()
    assert found == [pyspark.__file__]


def test_homes_of_removed_packages_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    light = home.light_home()
    assert light is not None
    abandoned = cache_root() / "spark-home-4.2.0-0badc0de"
    abandoned.mkdir()
    (abandoned / "classes-1.jsa").write_bytes(b"classes")
    (abandoned / "jars").symlink_to(tmp_path / "removed")
    fetched = cache_root() / "jars"
    fetched.mkdir()
    home.remove_abandoned()
    assert sorted(cache_root().iterdir()) == sorted([fetched, light])
