"""What a scope lets its clients do."""

from __future__ import annotations

from enum import Enum


class Mode(Enum):
    """READWRITE is ordinary work; IMPORT takes ids and versions as given; FORWARD is for a registry that another one leads."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"
    FORWARD = "FORWARD"

    @property
    def is_read_only(self) -> bool:
        return self in (Mode.READONLY, Mode.READONLY_OVERRIDE)

    @property
    def takes_ids(self) -> bool:
        """Whether schemas come with their ids and versions, unchecked."""
        return self in (Mode.IMPORT, Mode.FORWARD)
