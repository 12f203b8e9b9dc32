"""`barnabas doctor`: what it finds, and what it advises."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.cli.main import main
from barnabas.cli.platform import checks
from barnabas.cli.platform.checks import Verdict
from barnabas.running_platform import RunningPlatform, ServiceState
from barnabas.services import SERVICES

BROKER = SERVICES["broker"]
GOOD, ODD, BAD = Verdict.GOOD, Verdict.ODD, Verdict.BAD


def test_a_port_that_is_taken_is_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ("doctor", "--data-dir", str(tmp_path / "data"), "--set", f"listeners=PLAINTEXT://127.0.0.1:{port}")
        assert main(words) == 1
    shown = capsys.readouterr().out
    assert f"bad   port of broker    127.0.0.1:{port} is taken\n" in shown
    assert f"'sport = :{port}'" in shown
    assert not (tmp_path / "data").exists()


def test_the_ports_of_the_platform_that_runs_are_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        address = f"127.0.0.1:{own.getsockname()[1]}"
        running = RunningPlatform(os.getpid(), 0.0, (ServiceState("broker", os.getpid(), (address,), 0),))
        resolved = {"broker": BROKER.resolve({"listeners": f"PLAINTEXT://{address}"}, {}, None, platform=True)}
        told = f"{address} is that of the platform that runs on /data"
        (found,) = checks.ports(resolved, Path("/data/../data"), {Path("/data"): running})
        assert (found.verdict, found.found) == (GOOD, told)
        (others,) = checks.ports(resolved, Path("/other"), {Path("/data"): running})
        assert (others.verdict, others.found) == (BAD, told), "a platform on this folder could not start"
        assert [one.verdict for one in checks.ports(resolved, Path("/data"), {})] == [BAD]


def test_the_platform_on_the_folder_is_known_by_the_ports_that_it_was_given_when_it_was_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `barnabas up --ports-from 21000 --only broker` leaves it, beside a program at a usual port of another service."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "version").write_text("1\n")
    state = ServiceState("broker", os.getpid(), ("127.0.0.1:21000", "127.0.0.1:21005"), 0)
    RunningPlatform(os.getpid(), 0.0, (state,)).save(data)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        usual = replace(BROKER, chosen={"listeners": (f"PLAINTEXT://127.0.0.1:{taken.getsockname()[1]}", "a reason")})
        resolved = {
            "broker": usual.resolve({}, {}, None, platform=True),
            "rest": SERVICES["rest"].resolve({}, {}, None, platform=True),
        }
        running = RunningPlatform.find(data)
        assert running is not None
        found = list(checks.ports(resolved, data, {data: running}))
        assert [(one.check, one.verdict) for one in found] == [("port of broker", GOOD)] * 2
        assert [one.found for one in found] == [
            f"127.0.0.1:{port} is that of the platform that runs on {data}" for port in (21000, 21005)
        ]
        assert BAD in [one.verdict for one in checks.ports(resolved, tmp_path / "other", {data: running})]
    main(["doctor", "--data-dir", str(data)])
    assert f"port of broker  127.0.0.1:21000 is that of the platform that runs on {data}" in capsys.readouterr().out


def test_a_folder_of_others_is_bad_and_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    (found,) = checks.data_directory(tmp_path)
    assert found.verdict is BAD
    assert "holiday.jpg" in found.found
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_file_is_no_data_directory(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.touch()
    for place in (file, file / "below"):
        (found,) = checks.data_directory(place)
        assert (found.verdict, f"{file} is a file, not a folder" in found.found) == (BAD, True), found


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "it does not say its version"),
        ("version=1\ncluster.id=x\n", "node.id and directory.id missing"),
        ("version=1\ncluster.id=x\nnode.id=2\ndirectory.id=y\n", "is that of node 2, not 1"),
    ],
)
def test_a_folder_that_the_broker_would_refuse_is_bad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    file = tmp_path / "data" / "broker" / "meta.properties"
    file.parent.mkdir(parents=True)
    (tmp_path / "data" / "version").write_text("1\n")
    words = ("doctor", "--data-dir", str(tmp_path / "data"), "--set", "listeners=PLAINTEXT://127.0.0.1:0")
    main(words)
    assert "data of the broker" not in capsys.readouterr().out, "it may be missing: the broker makes it"
    file.write_text(content)
    assert main(words) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "data of the broker" in line]
    assert line.startswith("bad ")
    assert str(file) in line
    assert told in line


def test_a_file_system_that_holds_no_files_is_bad() -> None:
    (finding,) = checks.data_directory(Path("/proc/none"))
    assert finding.verdict is BAD


def test_an_empty_folder_is_good_and_stays_empty(tmp_path: Path) -> None:
    assert {one.check: one.verdict for one in checks.data_directory(tmp_path)}["data directory"] is GOOD
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("free", "verdict"), [(10**8, BAD), (2 * 10**9, ODD), (10**11, GOOD)])
def test_little_space_is_told(free: int, verdict: Verdict) -> None:
    assert checks.disk_space(free, Path("/data")).verdict is verdict


@pytest.mark.parametrize(("soft", "hard", "verdict"), [(256, 256, BAD), (4096, 4096, ODD), (20_000, 20_000, GOOD)])
def test_few_files_are_told(soft: int, hard: int, verdict: Verdict) -> None:
    found = checks.open_files(soft, hard)
    assert found.verdict is verdict
    assert ("as root" in found.remedy) is (verdict is not GOOD)


def test_a_clock_that_went_back_is_told_by_the_files(tmp_path: Path) -> None:
    (tmp_path / "segment").touch()
    written = (tmp_path / "segment").stat().st_mtime
    assert checks.clock(tmp_path, written).verdict is GOOD
    assert checks.clock(tmp_path, written - 3_600).verdict is BAD
    assert checks.clock(tmp_path, 0.0).verdict is BAD


@pytest.mark.parametrize(("available", "verdict"), [(10**9, ODD), (10**10, GOOD), (None, GOOD)])
def test_little_memory_for_spark_is_told(available: int | None, verdict: Verdict) -> None:
    assert checks.memory_for_spark(available).verdict is verdict
