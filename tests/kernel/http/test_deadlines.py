"""How long requests may take."""

from __future__ import annotations

import asyncio

import pytest

from barnabas.kernel.http.deadlines import Deadlines, LateError

LIMIT_S = 0.05


async def forever() -> None:
    await asyncio.Event().wait()


async def soon(result: str) -> str:
    await asyncio.sleep(0)
    return result


def test_what_is_done_in_time_has_its_result_and_what_is_not_is_ended() -> None:
    async def run() -> list[object]:
        deadlines = Deadlines(LIMIT_S)
        work = [forever(), soon("first"), forever(), soon("second")]
        return await asyncio.gather(*map(deadlines.keep, work), return_exceptions=True)

    late, first, later, second = asyncio.run(run())
    assert (first, second) == ("first", "second")
    assert isinstance(late, LateError)
    assert isinstance(later, LateError)


def test_each_has_the_whole_time_from_its_own_beginning() -> None:
    async def run() -> tuple[float, float]:
        deadlines, loop = Deadlines(LIMIT_S), asyncio.get_running_loop()

        async def lasts() -> float:
            began_s = loop.time()
            with pytest.raises(LateError):
                await deadlines.keep(forever())
            return loop.time() - began_s

        first = asyncio.create_task(lasts())
        await asyncio.sleep(LIMIT_S / 2)
        return await first, await asyncio.create_task(lasts())

    # The clock of the loop is a little coarser than that of its timers.
    assert min(asyncio.run(run())) > 0.9 * LIMIT_S


def test_a_task_may_be_late_once_and_go_on() -> None:
    async def run() -> str:
        deadlines = Deadlines(LIMIT_S)
        with pytest.raises(LateError):
            await deadlines.keep(forever())
        return await deadlines.keep(soon("answer"))

    assert asyncio.run(run()) == "answer"


def test_who_cancels_from_elsewhere_is_not_told_of_a_deadline() -> None:
    async def run() -> None:
        task = asyncio.create_task(Deadlines(60).keep(forever()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())


def test_an_error_of_the_work_is_the_works_own() -> None:
    async def fail() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        asyncio.run(_kept(fail()))


async def _kept(work: object) -> None:
    await Deadlines(LIMIT_S).keep(work)  # type: ignore[arg-type]
