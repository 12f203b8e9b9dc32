"""How far a stream has come: for each partition the offset to go on from. Clients know it as the id of an event."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Positions: TypeAlias = dict[int, int]

ID_MAX_CHARACTERS: Final = 64 * 1024

_ID: Final = re.compile(r"[0-9]{1,10}:[0-9]{1,19}(?:,[0-9]{1,10}:[0-9]{1,19})*")


def event_id(positions: Positions) -> str:
    return ",".join(f"{partition}:{offset}" for partition, offset in positions.items())


def parse_event_id(text: str) -> Positions | None:
    """None for what is no id of ours."""
    if len(text) > ID_MAX_CHARACTERS or not _ID.fullmatch(text):
        return None
    pairs = (pair.split(":") for pair in text.split(","))
    return {int(partition): int(offset) for partition, offset in pairs}
