"""Filter: drops every record that it gets, which a predicate chooses."""

from __future__ import annotations

from dataclasses import dataclass

from connect.api.record import Record
from connect.transforms.transform import Transform


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """It has none: the predicate decides."""


class Filter(Transform):
    """Drops all records. It is meant for use with a predicate."""

    settings_type = FilterSettings

    def apply(self, record: Record) -> None:
        return None
