"""The words of the settings `insert.mode` and `pk.mode`."""

from __future__ import annotations

from enum import Enum


class InsertMode(Enum):
    INSERT = "insert"
    MULTI = "multi"
    """Another connector's word for `insert` with many rows in a statement, which it always is here."""
    UPSERT = "upsert"
    UPDATE = "update"

    @property
    def needs_key(self) -> bool:
        return self in (InsertMode.UPSERT, InsertMode.UPDATE)


class KeyMode(Enum):
    """Where the primary key of a row comes from."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"
