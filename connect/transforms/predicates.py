"""Predicates: which records a transform applies to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connect.api.pattern import InvalidPattern, compiled
from connect.api.record import Record
from connect.api.settings import setting
from connect.errors import Problem
from connect.transforms.transform import Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicNameMatchesSettings:
    pattern: str = setting("pattern", "A regular expression for the whole name of the topic.")

    def problems(self) -> Iterator[Problem]:
        try:
            compiled(self.pattern)
        except InvalidPattern as problem:
            yield Problem(
                "pattern", f"Invalid value {self.pattern} for configuration pattern: Invalid regex: {problem}"
            )


class TopicNameMatches(Predicate):
    """Holds for records of topics whose name matches."""

    settings_type = TopicNameMatchesSettings

    def __init__(self, settings: TopicNameMatchesSettings) -> None:
        super().__init__(settings)
        self._pattern = compiled(settings.pattern)

    def holds(self, record: Record) -> bool:
        return self._pattern.fullmatch(record.topic) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class HasHeaderKeySettings:
    name: str = setting("name", "The header name.")


class HasHeaderKey(Predicate):
    """Holds for records that have a header of the name."""

    settings_type = HasHeaderKeySettings

    def holds(self, record: Record) -> bool:
        return any(header.name == self.settings.name for header in record.headers)


@dataclass(frozen=True, slots=True)
class RecordIsTombstoneSettings:
    """It has none."""


class RecordIsTombstone(Predicate):
    """Holds for records without a value."""

    settings_type = RecordIsTombstoneSettings

    def holds(self, record: Record) -> bool:
        return record.value is None
