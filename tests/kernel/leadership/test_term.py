"""An instance's time as the leader, which ends while another one begins."""

from __future__ import annotations

import asyncio
import logging

from barnabas.kernel.leadership.term import Term


def test_a_time_as_the_leader_begins_when_the_former_one_has_ended() -> None:
    async def scenario() -> None:
        calls: list[str] = []
        may_resign = asyncio.Event()

        async def prepare() -> None:
            calls.append("prepare")

        async def resign() -> None:
            calls.append("resign")
            await may_resign.wait()
            calls.append("resigned")

        term = Term(prepare, resign, lambda: calls.append("ready"), logger=logging.getLogger(__name__))
        term.begin()
        assert await term.settle(5)
        ending = asyncio.create_task(term.end())
        await asyncio.sleep(0)
        term.begin()
        assert not await term.settle(0.05)
        assert (term.is_leader, calls) == (False, ["prepare", "ready", "resign"])
        may_resign.set()
        await ending
        assert await term.settle(5)
        assert (term.is_leader, calls[3:]) == (True, ["resigned", "prepare", "ready"])
        may_resign.clear()
        ends = [asyncio.create_task(term.end()) for _ in range(2)]
        assert not (await asyncio.wait(ends, timeout=0.05))[0], "each waits until nothing is left of it"
        may_resign.set()
        await asyncio.gather(*ends)
        assert (term.is_leader, calls[6:]) == (False, ["resign", "resigned"])

    asyncio.run(scenario())
