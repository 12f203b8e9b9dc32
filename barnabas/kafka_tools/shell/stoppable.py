"""Runs a tool's asynchronous part so that a request to stop ends it in good order, as a JVM's shutdown hooks do."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, Final

from barnabas.kafka_tools.shell.exits import ToolExit
from barnabas.kernel import event_loop

# What a shell says of a program that SIGTERM has ended.
TERMINATED: Final = 128 + signal.SIGTERM


def run(work: Coroutine[Any, Any, int], *, fast: bool = False) -> int:
    """The status that `work` returns. SIGTERM cancels it, as Ctrl-C does. `fast` asks for the quicker event loop, which
    takes a moment to load."""
    stopped = False

    async def main() -> int:
        nonlocal stopped
        task = asyncio.ensure_future(work)

        def stop() -> None:
            nonlocal stopped
            stopped = True
            task.cancel()

        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
        return await task

    with asyncio.Runner(loop_factory=event_loop.loop_factory() if fast else None) as runner:
        try:
            return runner.run(main())
        except asyncio.CancelledError:
            if not stopped:
                raise
            raise ToolExit(TERMINATED) from None
