"""The id of a request: the client's own if it sent a fit one, otherwise one of ours. It stands in the answer and in the log."""

from __future__ import annotations

import itertools
import re
import secrets
from typing import Final

HEADER: Final = b"x-request-id"
CLIENT_ID_MAX_BYTES: Final = 128
PREFIX_BYTES: Final = 8

# Nothing that could break a header, a line of the log, or a terminal.
_FIT: Final = re.compile(rb"[A-Za-z0-9._~:/+=@-]+")


class RequestIds:
    """Ids that no other process gives: random digits of this process, and a number. Cheaper than a random id for each request."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(PREFIX_BYTES)
        self._numbers = itertools.count(1)

    def take(self, sent: bytes | None) -> bytes:
        """The id for a request whose client sent this one, or none."""
        if sent is not None and len(sent) <= CLIENT_ID_MAX_BYTES and _FIT.fullmatch(sent):
            return sent
        return b"%s-%x" % (self._prefix.encode(), next(self._numbers))
