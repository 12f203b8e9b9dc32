"""Settings of consumer groups that contradict each other are refused at the start."""

from __future__ import annotations

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import resolve
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.relations import completed


def settings_with(**given: int) -> None:
    flags = {f"group.consumer.{name.replace('_', '.')}": str(value) for name, value in given.items()}
    completed(resolve(BROKER_CATALOGUE, flags, {}))


@pytest.mark.parametrize(
    "given",
    [
        {"heartbeat_interval_ms": 4999},
        {"heartbeat_interval_ms": 15001},
        {"session_timeout_ms": 44999},
        {"session_timeout_ms": 60001},
        {"session_timeout_ms": 5000, "min_session_timeout_ms": 1},
    ],
)
def test_what_lies_out_of_bounds_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(SettingError, match=r"group\.consumer"):
        settings_with(**given)


def test_what_lies_within_them_is_taken() -> None:
    settings_with(
        session_timeout_ms=5001, min_session_timeout_ms=1, heartbeat_interval_ms=300, min_heartbeat_interval_ms=300
    )
