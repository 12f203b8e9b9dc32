"""The end of a service."""

import signal
import subprocess
import sys

from barnabas.kernel.event_loop import EXIT_LATE

DEADLINE_S = 60.0
# Waits for ever, whatever it is told.
STUCK = """
import asyncio
from barnabas.kernel import event_loop
from barnabas.kernel.logging import LogForm, configure

async def serve():
    stopping = event_loop.stop_signal(0.1)
    print("ready", flush=True)
    await stopping.wait()
    await asyncio.Event().wait()
    return 0

configure(LogForm())
event_loop.run(serve())
"""


def test_a_service_that_does_not_end_is_ended_and_says_what_it_waited_for() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        assert service.stdout.readline() == "ready\n"
        service.send_signal(signal.SIGTERM)
        _, said = service.communicate(timeout=DEADLINE_S)
    assert service.returncode == EXIT_LATE
    assert "has not ended 0.1 s after it was told to, and is ended now" in said
    assert "tasks: Task-1 at <string>:10" in said
