"""`barnabas sql test`: what it prints and how it ends. No server is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.main import main

Captured = pytest.CaptureFixture[str]

PASSES = """CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
--@test: it is there
INSERT INTO s VALUES (1, 'a');
ASSERT VALUES s VALUES (1, 'a');
"""
FAILS = """--@test: it is not
INSERT INTO s VALUES (1, 'a');
ASSERT VALUES s VALUES (1, 'b');
"""


def test_each_test_is_told_with_its_place(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "orders.sql"
    path.write_text(PASSES + FAILS)
    assert main(["sql", "test", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        f"ok {path}:2: it is there",
        f"FAILED {path}:5: it is not",
        f"    {path}:7: Expected record does not match actual: record 1 of S: V is not as expected.",
    ]
    assert lines[-1].startswith("2 tests, 1 failed, ")


def test_a_folder_stands_for_its_files_with_tests(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.sql").write_text(PASSES)
    (tmp_path / "sources.sql").write_text("CREATE STREAM x (v INT) WITH (kafka_topic='x', value_format='JSON');")
    assert main(["sql", "test", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"ok {tmp_path}/a/one.sql:2: it is there\n1 test, 0 failed")


def test_results_for_programs(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "orders.sql"
    path.write_text(PASSES + FAILS)
    assert main(["sql", "test", str(path), "--output", "jsonl"]) == 1
    passed, failed = map(json.loads, capsys.readouterr().out.splitlines())
    assert (passed["line"], passed["status"], passed["message"]) == (2, "passed", None)
    assert (failed["name"], failed["status"]) == ("it is not", "failed")
    assert failed["message"].startswith(f"{path}:7: Expected record")


def test_what_cannot_be_read_fails(tmp_path: Path, capsys: Captured) -> None:
    assert main(["sql", "test", str(tmp_path / "gone.sql")]) == 1
    assert "it cannot be read: No such file" in capsys.readouterr().out
    assert main(["sql", "test"]) == 2
    assert main(["sql", "test", str(tmp_path)]) == 2
    assert "no file below" in capsys.readouterr().err


def test_more_than_one_text_is_a_mistake(capsys: Captured) -> None:
    assert main(["sql", "SHOW", "TOPICS;"]) == 2
    assert "Put the statements in quotes together" in capsys.readouterr().err
