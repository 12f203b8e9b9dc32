"""Turns: one at a time, the latest first, and nobody who gives up keeps the others waiting."""

import asyncio

from schema_registry.turns import Turns


def test_who_came_last_is_next_and_who_gave_up_is_passed_over() -> None:
    turns, order = Turns(), list[str]()

    async def take(name: str) -> None:
        async with turns:
            order.append(name)

    async def scenario() -> None:
        async with turns:
            tasks = {name: asyncio.create_task(take(name)) for name in "abcd"}
            await asyncio.sleep(0)
            tasks["c"].cancel()
            await asyncio.sleep(0)
        # The turn has come to d, who gives up before knowing it.
        tasks["d"].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        await take("later")

    asyncio.run(scenario())
    assert order == ["b", "a", "later"]
