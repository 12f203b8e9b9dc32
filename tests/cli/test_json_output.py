"""Every command has `-o json`, and what it prints then is one JSON document."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.command_parser import CommandParser, command_parser
from barnabas.cli.main import main
from barnabas.kernel.data_directory import DataDirectory
from tests.cli.conftest import Call
from tests.cli.connectors.small_worker import PLUGIN, SmallWorker

Captured = pytest.CaptureFixture[str]
Printed = Callable[..., Any]


def commands(parser: argparse.ArgumentParser, *path: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                yield from commands(one, *path, name)
            return
    yield " ".join(path), parser


def test_every_command_has_the_flag() -> None:
    found = dict(commands(command_parser().load_all()))
    assert len(found) > 50
    for name, parser in found.items():
        assert isinstance(parser, CommandParser)
        flags = [action for action in parser._actions if "-o" in action.option_strings]
        assert ["--output" in flag.option_strings and "json" in (flag.choices or ()) for flag in flags] == [True], name


@pytest.fixture
def printed(capsys: Captured) -> Printed:
    """Run a command with -o json, and return the document."""

    def run(*words: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*words, "-o", "json"]) == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


def test_commands_of_a_cluster(run_at: Call, topic: str) -> None:
    def ask(*words: str) -> Any:
        return json.loads(run_at(*words, "-o", "json"))

    assert ask("topics", "create", topic) == {"topic": topic, "result": "created"}
    assert ask("produce", topic, "a", "b") == {"topic": topic, "records": 2}
    assert ask("configs", "set", "topic", topic, "retention.ms=5000") == {
        "kind": "topic", "name": topic, "set": {"retention.ms": "5000"}
    }  # fmt: skip
    assert ask("configs", "unset", "topic", topic, "retention.ms") == {
        "kind": "topic", "name": topic, "unset": ["retention.ms"]
    }  # fmt: skip
    run_at("groups", "reset", topic, "--topic", topic, "--to", "beginning", "--execute")
    assert ask("groups", "delete", topic) == [{"group": topic, "result": "deleted"}]
    assert ask("topics", "delete", topic, "--yes") == [{"topic": topic, "result": "deleted"}]


def test_what_was_deleted_is_in_the_document_although_something_was_not(
    run_at: Call, broker_address: str, topic: str, capsys: Captured
) -> None:
    run_at("topics", "create", topic)
    assert main(["topics", "delete", topic, f"{topic}-none", "-y", "-b", broker_address, "-o", "json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == [{"topic": topic, "result": "deleted"}]
    assert f"{topic}-none" in captured.err


@pytest.fixture
def worker() -> Iterator[SmallWorker]:
    own = SmallWorker()
    yield own
    own.stop()


def test_commands_of_a_worker(worker: SmallWorker, printed: Printed, tmp_path: Path) -> None:
    def ask(*words: str, status: int = 0) -> Any:
        return printed("connectors", *words, "--connect", worker.url, status=status)

    file = tmp_path / "files.json"
    config = {"connector.class": PLUGIN, "topics": "t", "file": "out"}
    file.write_text(json.dumps({"name": "files", "config": config}))
    problem = {"setting": "topics", "error": "Must configure one of topics or topics.regex"}
    words = ("validate", "other", "-s", f"connector.class={PLUGIN}")
    assert ask(*words, status=2) == {"name": "other", "is_valid": False, "errors": [problem], "warnings": []}
    assert ask("validate", "-f", str(file)) == {"name": "files", "is_valid": True, "errors": [], "warnings": []}
    assert ask("create", "-f", str(file)) == {"name": "files", "type": "sink", "result": "created"}
    assert ask("apply", "-f", str(file)) == [{"name": "files", "change": "unchanged", "dry_run": False}]
    assert ask("pause", "files") == {"name": "files", "requested": "pause"}
    assert ask("resume", "files") == {"name": "files", "requested": "resume"}
    assert ask("restart", "files", "--task", "1") == {"name": "files", "restarting": ["task 1"]}
    assert ask("offsets", "show", "files") == {"offsets": []}
    assert ask("delete", "files", "--yes") == {"name": "files", "result": "deleted"}


def test_list_show_and_status_agree_on_a_connector_of_which_a_task_has_failed(
    worker: SmallWorker, printed: Printed, tmp_path: Path
) -> None:
    file = tmp_path / "files.json"
    file.write_text(json.dumps({"name": "files", "config": {"connector.class": PLUGIN}}))
    main(["connectors", "create", "-f", str(file), "--connect", worker.url])
    worker.connectors["files"].traces[1] = "connect.errors.ConnectError: the disk is full\n"
    (listed,) = printed("connectors", "list", "--connect", worker.url)
    shown = printed("connectors", "show", "files", "--connect", worker.url)
    places = ("--data-dir", str(tmp_path), "--connect", worker.url)
    (in_status,) = printed("status", *places, status=1)["connectors"]
    assert (listed["state"], listed["tasks"]) == ("FAILED", "1/2")
    assert (in_status["state"], in_status["tasks"]) == ("FAILED", "1/2")
    assert shown["state"] == "FAILED"
    assert [(task["id"], task["state"]) for task in shown["tasks"]] == [(0, "RUNNING"), (1, "FAILED")]
    assert shown["traces"] == ["connect.errors.ConnectError: the disk is full\n"]


def test_a_task_without_a_status_is_in_the_list_and_shown(
    worker: SmallWorker, printed: Printed, tmp_path: Path
) -> None:
    file = tmp_path / "files.json"
    file.write_text(json.dumps({"name": "files", "config": {"connector.class": PLUGIN}}))
    main(["connectors", "create", "-f", str(file), "--connect", worker.url])
    worker.connectors["files"].has_status = False
    (listed,) = printed("connectors", "list", "--connect", worker.url)
    shown = printed("connectors", "show", "files", "--connect", worker.url)
    assert (listed["state"], listed["tasks"]) == ("UNASSIGNED", "0/2")
    assert shown["state"] == "UNASSIGNED"
    assert [task["state"] for task in shown["tasks"]] == ["UNASSIGNED"] * 2


def test_settings_and_scripts(printed: Printed) -> None:
    (rest,) = printed("config", "rest", "--docs", "--set", "log.level=debug")
    (level,) = [setting for setting in rest["settings"] if setting["name"] == "log.level"]
    assert (rest["service"], level["value"]) == ("rest", "debug")
    assert level["meaning"]
    assert "complete -F" in printed("completion", "bash")["script"]


def test_a_backup_and_its_restoration(printed: Printed, tmp_path: Path) -> None:
    data, backup, new = tmp_path / "data", tmp_path / "backup", tmp_path / "new"
    DataDirectory.open(data)
    (data / "sql").mkdir()
    (data / "sql" / "file").write_text("x")
    for words, source in (
        (("backup", str(backup), "--data-dir", str(data)), data),
        (("restore", str(backup), "--data-dir", str(new)), new),
    ):
        found = printed(*words)
        assert (found["data_directory"], found["backup"]) == (str(source), str(backup))
        assert found["files"] > 0
        assert found["bytes"] > 0
