"""What every service goes through between its settings and its exit status."""

import signal
import subprocess
import sys

import pytest

DEADLINE_S = 60.0
PROGRAM = """
import asyncio
import sys
from barnabas.kernel import service_runner
from barnabas.kernel.logging import LogForm, configure
from barnabas.kernel.settings import Catalogue, resolve

class Refused(Exception):
    pass

class Service:
    addresses = [("127.0.0.1", 1)]

    def __init__(self, settings):
        say("assembled")

    async def start(self, on_failure):
        say("starting")
        if "slow start" in sys.argv:
            await asyncio.Event().wait()
        if "refused start" in sys.argv:
            raise Refused("no room")
        if "failure later" in sys.argv:
            asyncio.get_running_loop().call_later(0.1, on_failure)

    async def stop(self):
        say("stopped")
        if "refused stop" in sys.argv:
            raise Refused("not everything is written")

def say(what):
    print(what, flush=True)

configure(LogForm())
program = service_runner.ServiceProgram("the sample", Service, failures=(Refused,))
settings = resolve(Catalogue([]), {}, {}, None)
sys.exit(service_runner.run(program, settings, lambda addresses: say(f"listening on {addresses}")))
"""
LISTENING = "listening on [('127.0.0.1', 1)]"


@pytest.mark.parametrize(
    ("case", "said", "status", "reason"),
    [
        ("", ["assembled", "starting", LISTENING, "stopped"], 0, ""),
        ("slow start", ["assembled", "starting", "stopped"], 0, ""),
        ("refused start", ["assembled", "starting", "stopped"], 1, "the sample has failed: no room"),
        ("refused stop", ["assembled", "starting", LISTENING, "stopped"], 1, "the sample has failed: not everything is written"),
        ("failure later", ["assembled", "starting", LISTENING, "stopped"], 0, ""),
    ],
)  # fmt: skip
def test_a_service_starts_announces_itself_and_stops(case: str, said: list[str], status: int, reason: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, case], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        ends_itself = case in ("refused start", "failure later")
        before_signal = len(said) if ends_itself else said.index("stopped")
        lines = [service.stdout.readline().rstrip("\n") for _ in range(before_signal)]
        if not ends_itself:
            service.send_signal(signal.SIGTERM)
        rest, log = service.communicate(timeout=DEADLINE_S)
    assert (lines + rest.splitlines(), service.returncode) == (said, status), log
    assert reason in log
