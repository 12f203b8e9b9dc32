"""Whose turn it is to write."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from schema_registry.write_order import WriteOrder

TURNS: list[Callable[[WriteOrder], AbstractAsyncContextManager[None]]] = [
    lambda order: order.subject("s"),
    lambda order: order.alone(),
]


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_begins_when_former_writes_are_settled(
    turn: Callable[[WriteOrder], AbstractAsyncContextManager[None]],
) -> None:
    doubts = [TimeoutError("a former write is in doubt")]

    async def settle() -> None:
        if doubts:
            raise doubts.pop()

    async def scenario() -> None:
        order = WriteOrder(settle)
        with pytest.raises(TimeoutError):
            async with turn(order):
                pytest.fail("nothing may be decided yet")
        for following in TURNS:
            async with following(order):
                pass

    asyncio.run(scenario())
