"""What transforms and predicates are: functions of one record, made from their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from connect.api.record import Record


class Transform(ABC):
    """Changes records. DataError for one that it cannot change."""

    settings_type: ClassVar[type[Any]]

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def apply(self, record: Record) -> Record | None:
        """The changed record; None drops it."""


class Predicate(ABC):
    """Decides which records a transform applies to."""

    settings_type: ClassVar[type[Any]]

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def holds(self, record: Record) -> bool: ...
