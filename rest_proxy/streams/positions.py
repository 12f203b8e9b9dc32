"""How far a stream has come: for each partition the offset to go on from. Clients know it as the id of an event."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Positions: TypeAlias = dict[int, int]

ID_MAX_CHARACTERS: Final = 64 * 1024

_ID: Final = re.compile(r"[0-9]{1,10}:[0-9]{1,19}(?:,[0-9]{1,10}:[0-9]{1,19})*")


def id_around(positions: Positions, partition: int) -> tuple[bytes, bytes]:
    """The id of an event, before and behind the offset of one partition."""
    before, after = b"", b""
    seen = False
    for number, offset in positions.items():
        if number == partition:
            before, seen = before + b"%d:" % number, True
        elif seen:
            after += b",%d:%d" % (number, offset)
        else:
            before += b"%d:%d," % (number, offset)
    return before, after


def parse_event_id(text: str) -> Positions | None:
    """None for what is no id of ours."""
    if len(text) > ID_MAX_CHARACTERS or not _ID.fullmatch(text):
        return None
    pairs = (pair.split(":") for pair in text.split(","))
    return {int(partition): int(offset) for partition, offset in pairs}
