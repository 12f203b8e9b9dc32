"""SQL as a part of `barnabas up`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from barnabas.sql import Client
from tests.platform_process import PlatformProcess
from tests.process_tree import descendants
from tests.registry import ask
from tests.streams_sql.e2e.deadlines import TEST_S
from tests.streams_sql.e2e.spark_processes import SparkProcesses, wait_until_gone

ORPHANS_DEADLINE_S = 10.0
"""Until nothing is left of a platform that was killed: services that wait for the broker are ended after two."""

pytestmark = pytest.mark.timeout(TEST_S)


@pytest.fixture
def platform(spark_jars: Path, tmp_path: Path) -> Iterator[PlatformProcess]:
    made = PlatformProcess(tmp_path)
    made.start()
    yield made
    if made.is_running():
        made.stop()


def test_the_demo_as_often_as_one_likes(platform: PlatformProcess, tmp_path: Path) -> None:
    """The whole way: files, databases and HTTP to topics, SQL on them, and back into a database."""
    folder = tmp_path / "files"
    (folder / "log.txt").mkdir(parents=True)
    failed = demo(platform, "--folder", str(folder))
    assert failed.returncode == 1
    assert f"files in {folder}. `barnabas demo --remove` removes all" in failed.stderr
    for _ in range(2):
        ended = demo(platform)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "[('hammer', 12.5, 'ada'), ('saw', 31.0, 'eve')]" in ended.stdout
        assert "all services are healthy" in ended.stdout
    with Client(platform.url_of("sql")) as client:
        assert [each["streams"] for each in client.execute("SHOW STREAMS;")] == [[]], "nothing is left of it"
    assert "demo" not in command(platform, "groups", "list").stdout
    assert ask(platform.url_of("registry"), "GET", "/subjects?deleted=true").body == []
    assert demo(platform, "--remove").stdout == "What a demo has left is removed.\n"


def demo(platform: PlatformProcess, *words: str) -> subprocess.CompletedProcess[str]:
    return command(platform, "demo", "--data-dir", str(platform.data), *words)


def command(platform: PlatformProcess, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": platform.address}
    line = [sys.executable, "-m", "barnabas", *words]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=TEST_S, check=False)


def test_it_stops_and_nothing_is_left_of_it(platform: PlatformProcess) -> None:
    with Client(platform.url_of("sql")) as client:
        (plugins,) = client.execute("SHOW CONNECTOR PLUGINS;")
        assert plugins["connectorsPlugins"], "SQL is told where Connect is"
    # Java is the last to start.
    SparkProcesses(platform.pid).java()
    started = descendants(platform.pid)
    platform.kill()
    wait_until_gone(started, ORPHANS_DEADLINE_S)
    platform.start()
    # Spark warms up.
    started = descendants(platform.pid)
    assert platform.stop() == 0
    assert "killing" not in platform.log.read_text(), "no service had to be ended"
    wait_until_gone(started)
