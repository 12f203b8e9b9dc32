"""Spark's SQL for a call, from the template of an overload."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_PLACE: Final = re.compile(r"\{(\d+|\*)\}")


def native_text(form: str, arguments: Sequence[str]) -> str:
    """The template with the texts of the arguments in it, each in parentheses: it may be any expression."""
    guarded = [f"({argument})" for argument in arguments]

    def filled(place: re.Match[str]) -> str:
        return ", ".join(guarded) if place[1] == "*" else guarded[int(place[1])]

    return _PLACE.sub(filled, form)
