"""SQL as a part of `barnabas up`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ports import HOST
from tests.process_tree import descendants
from tests.service_process import ServiceProcess
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.e2e.spark_processes import SparkProcesses, wait_until_gone

pytestmark = pytest.mark.timeout(TEST_S)

STOP_SECONDS_MAX = 10.0
SERVICES = ("registry", "rest", "connect", "sql")


class PlatformProcess(ServiceProcess):
    """`barnabas up`, every service at a free port."""

    @property
    def address(self) -> str:
        return self.announced

    def command(self) -> list[str]:
        program = Path(sys.executable).with_name("barnabas")
        ports = [word for name in SERVICES for word in ("--set", f"{name}.listeners=http://{HOST}:0")]
        where = ["--listeners", f"PLAINTEXT://{HOST}:0", "--data-dir", str(self.home / "data")]
        return [str(program), "up", *where, *ports]

    def is_ready(self) -> bool:
        return "barnabas is up" in self.output.read_text()


@pytest.fixture
def platform(spark_jars: Path, tmp_path: Path) -> Iterator[PlatformProcess]:
    made = PlatformProcess(tmp_path)
    made.start()
    yield made
    if made.is_running():
        made.stop()


def test_it_stops_within_seconds_and_nothing_is_left_of_it(platform: PlatformProcess) -> None:
    # Spark warms up.
    started = descendants(platform.pid)
    begun = time.monotonic()
    assert platform.stop() == 0
    assert time.monotonic() - begun < STOP_SECONDS_MAX
    wait_until_gone(started)
    platform.start()
    # Java is the last to start.
    SparkProcesses(platform.pid).java()
    started = descendants(platform.pid)
    platform.kill()
    wait_until_gone(started)
