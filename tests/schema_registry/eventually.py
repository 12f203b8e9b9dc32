"""Waiting for what instances come to see."""

from collections.abc import Callable

from tests.waiting import wait_for_async


async def eventually(condition: Callable[[], bool], what: str) -> None:
    """Return when the condition holds; fail when it does not before the deadline."""

    async def holds() -> bool:
        return condition()

    await wait_for_async(holds, what)
