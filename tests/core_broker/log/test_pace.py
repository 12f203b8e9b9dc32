"""The cleaner's pace: it lets others run, keeps to a number of bytes a second, and stops when it is told."""

from __future__ import annotations

import pytest

from core_broker.log.pace import PAUSE_S, SLICE_S, CleaningAborted, IoThrottle, Pace


class Time:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


def test_others_run_after_each_slice() -> None:
    time = Time()
    pace = Pace(IoThrottle(clock_s=time), time, time.sleep)
    pace.breathe()
    time.slept.clear()
    for _ in range(8):
        time.now_s += SLICE_S / 4 * 1.001
        pace.breathe()
    assert time.slept == [PAUSE_S, PAUSE_S]


def test_bytes_are_counted_over_all_threads() -> None:
    time = Time()
    throttle = IoThrottle(1000, time)
    first, second = Pace(throttle, time, time.sleep), Pace(throttle, time, time.sleep)
    first.moved(500)
    second.moved(1000)
    first.moved(250)
    assert time.now_s == pytest.approx(101.75)
    time.now_s += 60
    first.moved(1)
    assert time.now_s == pytest.approx(161.751), "what was not used earlier cannot be saved up"
    throttle.bytes_per_second = 1e308
    first.moved(1 << 40)
    assert time.now_s == pytest.approx(161.751)


def test_a_stopped_thread_does_not_wait_to_the_end() -> None:
    time = Time()
    pace = Pace(IoThrottle(1, time), time, time.sleep)
    pace.moved(1)
    pace.stop()
    with pytest.raises(CleaningAborted):
        pace.moved(10**9)
    time.now_s += 1
    with pytest.raises(CleaningAborted):
        pace.breathe()
