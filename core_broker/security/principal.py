"""Who sends a request."""

from __future__ import annotations

from typing import NamedTuple


class Principal(NamedTuple):
    """A named party, written `User:alice`, as Kafka's access lists write it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS = Principal("User", "ANONYMOUS")
