"""`barnabas status`: what it asks and how it shows it. `test_up` has it on a whole platform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.command_error import EXIT_UNREACHABLE
from barnabas.cli.main import command_parser, main
from barnabas.cli.platform_places import places_of
from barnabas.cli.service_address import SERVICES
from barnabas.cli.sql_entities import query_state
from barnabas.cli.status import duration
from barnabas.cli.status_services import complaint
from barnabas.running_platform import RUN_FILE, RunningPlatform, ServiceState

NOBODY = "127.0.0.1:1"


def test_a_broker_alone(broker_address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["status", "--data-dir", str(tmp_path), "-b", broker_address]
    for name in ("registry", "rest", "connect", "sql"):
        words += [f"--{name}", f"http://{NOBODY}"]
    assert main([*words, "-o", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {one["name"]: one["health"] for one in found["services"]} == {
        "broker": "healthy", "registry": "down", "rest": "down", "connect": "down", "sql": "down",
    }  # fmt: skip
    assert found["cluster"]["brokers"] == 1
    assert found["queries"] is None
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("barnabas: not all services are well\n")
    assert "Connection refused" in shown


def test_when_nothing_answers_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for name in ("registry", "rest", "connect", "sql") for word in (f"--{name}", f"http://{NOBODY}")]
    assert main(["status", "--data-dir", str(tmp_path), "-b", NOBODY, *words]) == 1
    assert "`barnabas up` starts the platform" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("status",), ("demo",), ("apply", "--prune", "--yes", "-f", "FILE")])
def test_a_folder_on_which_nothing_runs_does_not_mean_the_platform_at_the_usual_ports(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "platform.yaml"
    file.write_text("name: shop\ntopics: {}\n")
    given = [str(file) if word == "FILE" else word for word in words]
    assert main([*given, "--data-dir", str(tmp_path)]) == EXIT_UNREACHABLE
    told = capsys.readouterr().err
    assert f"no platform runs on {tmp_path}" in told
    assert f"barnabas up --data-dir {tmp_path}" in told


def test_a_service_that_is_not_named_beside_such_a_folder_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, _ in SERVICES.values():
        monkeypatch.delenv(variable, raising=False)
    arguments = command_parser().parse_args(["status", "--data-dir", str(tmp_path), "-b", NOBODY])
    assert places_of(arguments).addresses == {"broker": NOBODY}


def test_the_registry_tells_itself_why_it_is_not_well() -> None:
    assert complaint("registry", {"status": "healthy"}) is None
    assert complaint("registry", {"status": "unhealthy", "message": "topic: away"}) == "topic: away"


def test_a_file_of_a_platform_that_was_killed_counts_for_nothing(tmp_path: Path) -> None:
    gone = RunningPlatform(2**22 + 1, 1.0, (ServiceState("broker", None, (NOBODY,), 3),))
    gone.save(tmp_path)
    assert (tmp_path / RUN_FILE).exists()
    assert RunningPlatform.find(tmp_path) is None


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (61, "1 min 1 s"), (3_600, "1 h 0 min"), (180_000, "2 d 2 h")]
)
def test_durations(seconds: int, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("query", "state"), [({"state": "RUNNING"}, "RUNNING"), ({"state": "RUNNING", "isStarting": True}, "STARTING")]
)
def test_a_query_that_spark_has_not_started_yet_does_not_run(query: dict[str, object], state: str) -> None:
    assert query_state(query) == state
