"""Functions of a user, as CREATE FUNCTION names them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

NUMBER = 5


def taxed(price: float, rate: float = 0.2) -> float:
    return price * (1 + rate)


def or_nothing(value: Any) -> str:
    return "nothing" if value is None else str(value)


def next_day(moment: datetime, day: date) -> date:
    return day + timedelta(days=1) if moment.tzinfo is not None else day


def given_back(value: Any) -> Any:
    return value


def failing(_value: Any) -> Any:
    raise LookupError("it is not there")


def letters(text: str) -> Iterator[str]:
    yield from text


class Spread:
    """The difference of the greatest and the least value."""

    def initial(self) -> list[int]:
        return []

    def add(self, state: list[int], value: int | None) -> list[int]:
        return state if value is None else sorted([*state, value])

    def undo(self, state: list[int], value: int | None) -> list[int]:
        if value is not None:
            state.remove(value)
        return state

    def merge(self, one: list[int], other: list[int]) -> list[int]:
        return sorted(one + other)

    def result(self, state: list[int]) -> int | None:
        return state[-1] - state[0] if state else None


class Longest:
    """The longest text, which cannot be undone."""

    def initial(self) -> str:
        return ""

    def add(self, state: str, text: str | None) -> str:
        return max(state, text or "", key=len)

    def result(self, state: str) -> str:
        return state


class Half:
    def initial(self) -> int:
        return 0
