"""What a shard of groups gets from outside, so that tests can bring their own time and chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core_broker.coordinators.groups.settings import GroupSettings
from core_broker.coordinators.timers import Timers


@dataclass(frozen=True, slots=True)
class Surroundings:
    settings: GroupSettings
    timers: Timers
    clock_ms: Callable[[], int]
    """The time of day: what records carry."""

    now_ms: Callable[[], int]
    """A time that never jumps: what sessions are measured with."""

    new_uuid: Callable[[], str]
