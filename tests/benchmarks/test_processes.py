from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.processes import PeakMemory, cpu_seconds, family, proportional_bytes, resident_bytes

CHILD = "import sys; print('up', flush=True); sys.stdin.read()"
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
    before = cpu_seconds(os.getpid())
    total = 0
    while cpu_seconds(os.getpid()) < before + 0.05:
        total += sum(range(10_000))
    assert total


def test_a_process_that_is_gone_costs_nothing() -> None:
    assert cpu_seconds(GONE_PID) == 0
    assert resident_bytes(GONE_PID) == 0
    assert proportional_bytes(GONE_PID) == 0


def test_the_peak_is_the_highest_sample() -> None:
    samples = iter([10, 30])
    with PeakMemory(1, sample=lambda _: next(samples, 20)) as memory:
        while memory.peak_bytes < 30:
            pass
    assert memory.peak_bytes == 30
