"""Trying again: what is wrong is known while it lasts, and told now and then."""

import asyncio
import logging

import pytest

from barnabas.wire import recovery
from barnabas.wire.recovery import REPORT_INTERVAL_S, Recovery


def test_failures_in_a_row_are_told_now_and_then(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "PAUSE_MS", 0)
    now_s = 0.0
    errors: list[str | None] = []

    async def scenario() -> None:
        nonlocal now_s
        trying = Recovery("trying", logging.getLogger(__name__), lambda: now_s)
        for _ in range(5):
            await trying.after(OSError("no route"))
        errors.append(trying.error)
        now_s += REPORT_INTERVAL_S
        await trying.after(OSError("no route"))
        trying.succeeded()
        errors.append(trying.error)
        trying.succeeded()
        await trying.after(TimeoutError())
        errors.append(trying.error)

    with caplog.at_level(logging.INFO):
        asyncio.run(scenario())
    assert errors == ["no route", None, "TimeoutError"]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO", "WARNING"]
