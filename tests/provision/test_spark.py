"""`make up` on a machine that has nothing for Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy import java, spark
from streams_sql.spark.installation.jar_sets import STAMP_NAME, wanted
from streams_sql.spark.installation.jars import SPARK


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_without_java_the_platform_starts_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(java, "provide", lambda: None)
    spark.main()
    assert "Java 17 or newer is missing, and SQL queries wait for it" in capsys.readouterr().out


def test_jars_that_cannot_be_fetched_are_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\necho 'Server access error at url https://mirror.example'\nexit 1\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("PATH", "/nonexistent")
    spark.main()
    said = capsys.readouterr().out
    assert said.startswith(f"fetching the jars of Spark's Kafka connector into {SPARK.folder()}\n")
    assert "Server access error at url https://mirror.example\nSQL queries wait for these jars.\n" in said


def test_what_is_there_is_passed_over_in_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(java, "provide", lambda: tmp_path)
    SPARK.folder().mkdir(parents=True)
    (SPARK.folder() / STAMP_NAME).write_text(f"{wanted(SPARK)}\n\n")
    spark.main()
    assert capsys.readouterr().out == ""
