"""Records of an upload that wait for receipts are bounded, in number and in bytes."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from rest_proxy.kafka.producer import Batch
from rest_proxy.v3.produce_stream import IN_FLIGHT_MAX_BYTES, InFlight, Waiting
from rest_proxy.v3.receipts import Turn
from rest_proxy.v3.refusals import bad_request

MAX_RECORDS = 10


@pytest.mark.parametrize(
    ("records", "size_bytes"), [(MAX_RECORDS, 1), (1, IN_FLIGHT_MAX_BYTES), (2 * MAX_RECORDS, 2 * IN_FLIGHT_MAX_BYTES)]
)
def test_who_comes_when_it_is_full_waits_until_receipts_are_sent(records: int, size_bytes: int) -> None:
    async def scene() -> None:
        in_flight = InFlight(MAX_RECORDS)
        await in_flight.enter(records, size_bytes)
        turns: list[Turn] = [bad_request("no")] * records
        in_flight.add(Waiting(turns, Batch((), asyncio.get_running_loop().create_future(), deque()), size_bytes))
        second = asyncio.ensure_future(in_flight.enter(1, 1))
        first = await in_flight.next()
        assert first is not None
        await asyncio.sleep(0)
        assert not second.done()
        in_flight.leave(first)
        await asyncio.wait_for(second, 5)

    asyncio.run(scene())
