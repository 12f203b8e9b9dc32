from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.processes import PeakMemory, cpu_seconds, family, proportional_bytes, resident_bytes, without_java
from benchmarks.running import Launch
from tests.waiting import wait_for

CHILD = "import sys; print('up', flush=True); sys.stdin.read()"
LISTINGS = 2_000
GONE_PID = 2**22 + 1  # above the highest that Linux gives out


def test_a_family_is_the_process_and_its_children() -> None:
    command = [sys.executable, "-c", CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert {os.getpid(), child.pid} <= set(family(os.getpid()))
        assert resident_bytes(os.getpid()) > resident_bytes(child.pid) > 1_000_000
        assert 0 < proportional_bytes(child.pid) < resident_bytes(child.pid)
        child.communicate()


def test_cpu_time_grows_with_work() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        try:
            before = cpu_seconds(child.pid)
            wait_for(lambda: cpu_seconds(child.pid) > before + 0.05, "its work to be counted")
        finally:
            child.kill()


def test_a_process_that_is_gone_costs_nothing() -> None:
    assert cpu_seconds(GONE_PID) == 0
    assert resident_bytes(GONE_PID) == 0
    assert proportional_bytes(GONE_PID) == 0


def test_processes_may_end_while_a_family_is_listed() -> None:
    """Path.glob looks whether a folder is there before it lists it: children that come and go fall between the two."""
    command = ["sh", "-c", "while :; do sleep 0.0001 & wait; done"]
    with subprocess.Popen(command) as parent:
        try:
            wait_for(lambda: len(family(parent.pid)) > 1, "the first child")
            for _ in range(LISTINGS):
                assert parent.pid in family(parent.pid)
        finally:
            parent.kill()


def test_the_peak_is_the_highest_sample() -> None:
    samples = iter([10, 30])
    with PeakMemory(1, sample=lambda _: next(samples, 20)) as memory:
        while memory.peak_bytes < 30:
            pass
    assert memory.peak_bytes == 30


def test_java_is_left_out(tmp_path: Path) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    (tmp_path / "java").symlink_to(sleep)
    with subprocess.Popen([tmp_path / "java", "60"]) as child:
        wait_for(lambda: child.pid not in without_java(os.getpid()), "the child bears its name")
        assert child.pid in family(os.getpid())
        assert os.getpid() in without_java(os.getpid())
        child.kill()


def test_a_server_keeps_its_bytecode_as_at_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    output = tmp_path / "output"
    # It waits for the kill by itself: an input that ends first would have it print an error.
    command = "import signal, sys; print(sys.dont_write_bytecode, flush=True); signal.pause()"
    launch = Launch("a server", [sys.executable, "-c", command], 0, output)
    running = launch.start(lambda: output.read_text().endswith("\n"))
    running.kill()
    assert output.read_text() == "False\n"
