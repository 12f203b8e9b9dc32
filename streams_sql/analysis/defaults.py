"""What settings give where a statement says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from streams_sql.functions.ordered_aggregates import COLLECT_LIST_LIMIT, COLLECT_SET_LIMIT
from streams_sql.problem import SqlProblem

KEY_FORMAT: Final = "ksql.persistence.default.format.key"
VALUE_FORMAT: Final = "ksql.persistence.default.format.value"
WRAP_SINGLE_VALUES: Final = "ksql.persistence.wrap.single.values"
KEEP_CASE: Final = "sql.names.keep.case"
AGGREGATE_LIMITS: Final = (COLLECT_LIST_LIMIT, COLLECT_SET_LIMIT)


@dataclass(frozen=True, slots=True)
class Defaults:
    """`wrap_single_values` is None where each format does as it likes best. The topic of a sink without a name of its own is
    `topic_prefix` and the name of the sink. `aggregate_limits` are the settings that aggregates name, as far as they are set.
    `keeps_case`: fields of records have the names that the statement has written, and not those in capitals."""

    key_format: str | None = "KAFKA"
    value_format: str | None = None
    wrap_single_values: bool | None = None
    topic_prefix: str = ""
    aggregate_limits: Mapping[str, int] = field(default_factory=dict)
    keeps_case: bool = False

    def overridden(self, properties: Mapping[str, str]) -> Defaults:
        """With what the session of a statement has set. SqlProblem for what cannot be."""
        if not properties:
            return self
        limits = {name: _limit(name, properties[name]) for name in AGGREGATE_LIMITS if name in properties}
        wraps, keeps = properties.get(WRAP_SINGLE_VALUES), properties.get(KEEP_CASE)
        return replace(
            self,
            key_format=properties[KEY_FORMAT].upper() if KEY_FORMAT in properties else self.key_format,
            value_format=properties[VALUE_FORMAT].upper() if VALUE_FORMAT in properties else self.value_format,
            wrap_single_values=self.wrap_single_values if wraps is None else wraps.strip().lower() == "true",
            aggregate_limits={**self.aggregate_limits, **limits},
            keeps_case=self.keeps_case if keeps is None else keeps.strip().lower() == "true",
        )


def _limit(name: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) == 0:
        raise SqlProblem(f"{name}={text} is no number above 0.")
    return int(text)
