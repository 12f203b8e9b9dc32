"""What keeps a backup from being taken or restored."""

from __future__ import annotations


class BackupError(Exception):
    """What is wrong, and what to do about it."""
