"""Answers that are asked for once, kept, and forgotten."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from rest_proxy.formats.lookups import Lookups

KEPT_MAX = 2


class Registry:
    """Counts what it is asked, and answers when it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = threading.Event()
        self.open.set()

    def answer(self, key: str) -> str:
        self.open.wait()
        self.asked.append(key)
        if key == "bad":
            raise ValueError(key)
        return key.upper()


def run(scenario: Callable[[Lookups[str, str], Registry], Awaitable[None]], kept_s: float = 1e9) -> None:
    registry = Registry()

    async def main() -> None:
        with ThreadPoolExecutor(1) as executor:
            await scenario(Lookups(registry.answer, executor, KEPT_MAX, lambda _key, _answer: kept_s), registry)

    asyncio.run(main())


def test_all_who_wait_share_one_question() -> None:
    async def scenario(lookups: Lookups[str, str], registry: Registry) -> None:
        registry.open.clear()
        waiting = [asyncio.ensure_future(lookups.get("a")) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        registry.open.set()
        assert await asyncio.gather(*waiting[1:]) == ["A", "A"]
        assert lookups.known("a") == "A"
        assert registry.asked == ["a"]

    run(scenario)


def test_only_the_newest_are_kept() -> None:
    async def scenario(lookups: Lookups[str, str], registry: Registry) -> None:
        for key in ("a", "b", "c"):
            await lookups.get(key)
        assert [lookups.known(key) for key in ("a", "b", "c")] == [None, "B", "C"]

    run(scenario)


def test_an_answer_past_its_time_is_asked_for_again() -> None:
    async def scenario(lookups: Lookups[str, str], registry: Registry) -> None:
        assert [await lookups.get("a"), await lookups.get("a")] == ["A", "A"]
        assert registry.asked == ["a", "a"]

    run(scenario, kept_s=0.0)


def test_failures_are_not_kept() -> None:
    async def scenario(lookups: Lookups[str, str], registry: Registry) -> None:
        for _ in range(2):
            with pytest.raises(ValueError, match="bad"):
                await lookups.get("bad")
        assert registry.asked == ["bad", "bad"]

    run(scenario)
