"""A cluster that is lost and found."""

import asyncio
from collections import deque

import pytest

from rest_proxy.kafka import reachability
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.reachability import Reachability

FAILURE = KafkaFailure(-195, "_TRANSPORT", "nobody answers", retriable=True)
TURNS = 10


async def lose(cluster: Reachability, answers: deque[asyncio.Event]) -> None:
    """A probe fails as long as there are answers, each when it is told to."""

    async def probe() -> None:
        if answers:
            await answers.popleft().wait()
            raise FAILURE

    cluster.suspect("connection refused", probe)


async def known(cluster: Reachability) -> None:
    """Returns when the loss has got about, which takes a few turns of the loop."""
    for _ in range(TURNS):
        if cluster.is_known_to_be_away:
            return
        await asyncio.sleep(0)
    pytest.fail("the loss was not noticed")


def told() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


def test_a_suspicion_alone_refuses_nobody() -> None:
    async def work() -> None:
        cluster = Reachability()
        await lose(cluster, deque())
        await cluster.check()
        assert not cluster.is_known_to_be_away
        await cluster.stop()

    asyncio.run(work())


def test_requests_wait_for_a_cluster_that_returns_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "PROBE_PAUSE_S", 0.01)

    async def work() -> None:
        cluster = Reachability()
        second = asyncio.Event()
        await lose(cluster, deque([told(), second]))
        await known(cluster)
        waiting = asyncio.ensure_future(cluster.check())
        second.set()
        await waiting
        assert not cluster.is_known_to_be_away
        await cluster.stop()

    asyncio.run(work())


def test_requests_are_refused_when_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "RETURN_WAIT_S", 0.01)

    async def work() -> None:
        cluster = Reachability()
        under_way = asyncio.ensure_future(cluster.unless_lost(asyncio.Event().wait()))
        await lose(cluster, deque([told(), asyncio.Event()]))
        await known(cluster)
        with pytest.raises(KafkaFailure, match="connection refused") as refused:
            await cluster.check()
        with pytest.raises(KafkaFailure, match="connection refused"):
            await under_way
        assert refused.value.name == "_ALL_BROKERS_DOWN"
        await cluster.stop()

    asyncio.run(work())
