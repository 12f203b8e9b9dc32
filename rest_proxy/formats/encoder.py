"""From JSON values to the bytes of keys and values."""

from __future__ import annotations

from typing import Any, Protocol


class Encoder(Protocol):
    """One format, with its schema where it has one."""

    @property
    def format(self) -> str: ...

    @property
    def schema_id(self) -> int | None: ...

    @property
    def subject(self) -> str | None: ...

    @property
    def version(self) -> int | None: ...

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value; None stays None, as no key or a tombstone. InvalidData when the value does not fit."""
        ...
