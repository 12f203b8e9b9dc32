"""Calls that are shared by those who ask at the same time."""

import asyncio

from schema_registry.store.coalesced import Coalesced


def test_who_asks_during_a_call_shares_the_next_one() -> None:
    async def scenario() -> None:
        started: list[int] = []
        has_started = asyncio.Event()
        gate = asyncio.Semaphore(0)

        async def call() -> int:
            number = len(started)
            started.append(number)
            has_started.set()
            await gate.acquire()
            return number

        shared = Coalesced(call)
        early = [asyncio.create_task(shared()) for _ in range(3)]
        await has_started.wait()
        late = [asyncio.create_task(shared()) for _ in range(3)]
        late[0].cancel()
        gate.release()
        assert await asyncio.gather(*early) == [0, 0, 0]
        gate.release()
        assert await asyncio.gather(*late[1:]) == [1, 1]
        assert started == [0, 1]
        waiting = asyncio.create_task(shared())
        await asyncio.sleep(0)
        await shared.close()
        assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)

    asyncio.run(scenario())
