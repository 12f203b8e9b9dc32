"""Spark's classes in an archive that Java maps into memory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streams_sql.spark.installation import class_archive, home, java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_maps_the_archive_that_provisioning_has_made(spark: SparkSession) -> None:
    light = home.light_home()
    if light is None or not class_archive.options(light, java.require()):
        pytest.skip("there is no archive of Spark's classes: run python -m deploy.spark")
    context = spark.sparkContext
    assert context._jvm is not None
    pid = context._jvm.java.lang.ProcessHandle.current().pid()
    archive = next(light.glob("classes-*.jsa"))
    assert str(archive) in Path(f"/proc/{pid}/maps").read_text()


def test_java_passes_over_an_archive_that_is_none_of_its_own(
    spark_jars: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    light, java_home = home.light_home(), java.require()
    assert light is not None
    assert class_archive.options(light, java_home) == ""
    class_archive._path(light, java_home).write_bytes(b"not an archive")
    told = class_archive.options(light, java_home)
    assert str(light) in told
    done = subprocess.run([java_home / "bin" / "java", *told.split(), "--version"], capture_output=True, check=True)
    assert done.stderr == b""
    assert b"openjdk" in done.stdout.lower()
    assert b"archive" not in done.stdout


def test_jars_that_were_installed_anew_need_another_archive(tmp_path: Path) -> None:
    jar = tmp_path / "spark.jar"
    jar.write_bytes(b"")
    names = set()
    for time_s in (1_000, 1_000, 2_000):
        os.utime(jar, (time_s, time_s))
        names.add(class_archive.archive_name(tmp_path, tmp_path))
    assert len(names) == 2


def test_a_runtime_without_an_archive_of_its_own_gets_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not class_archive.is_missing(tmp_path)
    assert class_archive.provide(tmp_path)
    light = home.light_home()
    assert light is not None
    assert not class_archive.options(light, tmp_path)
