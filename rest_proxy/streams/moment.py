"""Times as clients write them into a query."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MILLISECONDS: Final = re.compile("[0-9]{1,15}")


def moment_ms(text: str) -> int | None:
    """A date, with or without a time, or milliseconds since 1970; None for what is neither. Without a zone it is in UTC."""
    if _MILLISECONDS.fullmatch(text):
        return int(text)
    try:
        # In a query a plus is a space.
        date = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    if date < EPOCH:
        return None
    return (date - EPOCH) // timedelta(milliseconds=1)
