"""The query of paths that no other proxy has."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from rest_proxy.problems import BAD_REQUEST

BEGINNING: Final = "beginning"
END: Final = "end"

SYNONYMS: Final = {"earliest": BEGINNING, "latest": END}
"""What Kafka's consumers call the two ends."""

_NUMBER: Final = re.compile("[0-9]{1,18}")


def check_parameters(request: Request, known: Collection[str]) -> None:
    """A parameter that means nothing is a mistake of which its writer should hear."""
    for name in request.query_params:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
            raise HttpError(BAD_REQUEST, f"The parameter {name!r} is unknown: {hint}")


def number(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise HttpError(BAD_REQUEST, f"{name}={text!r} is not a number from 0 on")
    return int(text)
