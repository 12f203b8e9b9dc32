"""Names for columns that were not given one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from streams_sql.language.expressions import Dereference, Expression

GENERATED: Final = "KSQL_COL"
SYNTHETIC_KEY: Final = "ROWKEY"
_NUMBERED: Final = re.compile(r"(?s)(.*?)(?:_([0-9]{1,9}))?")


def aggregate_name(index: int) -> str:
    return f"KSQL_AGG_VARIABLE_{index}"


def table_function_name(index: int) -> str:
    return f"KSQL_SYNTH_{index}"


def joined_name(alias: str, column: str) -> str:
    return f"{alias}_{column}"


class ColumnNaming:
    """Names that clash with none of the sources' columns: KSQL_COL_0, KSQL_COL_1 …, and a field's own name for `struct->field`,
    numbered from its second use on."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken: dict[str, set[int]] = {}
        for name in taken:
            stem, number = _split(name)
            self._taken.setdefault(stem, set()).add(number)
        self._next: dict[str, int] = {}

    def name_for(self, expression: Expression) -> str:
        stem = _split(expression.field)[0] if isinstance(expression, Dereference) else GENERATED
        number = self._number(stem)
        return stem if number == 0 and stem != GENERATED else f"{stem}_{number}"

    def synthetic_key(self) -> str:
        number = self._number(SYNTHETIC_KEY)
        return SYNTHETIC_KEY if number == 0 else f"{SYNTHETIC_KEY}_{number}"

    def _number(self, stem: str) -> int:
        number = self._next.get(stem, 0)
        while number in self._taken.get(stem, ()):
            number += 1
        self._next[stem] = number + 1
        return number


def _split(name: str) -> tuple[str, int]:
    match = _NUMBERED.fullmatch(name)
    assert match is not None, "the pattern takes every text"
    return match[1], int(match[2] or 0)
