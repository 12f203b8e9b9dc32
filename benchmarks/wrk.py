"""The HTTP load: wrk, with scripts that say what each request is, and what wrk's summary tells."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.connection import HOST
from benchmarks.job import Figures, LoadFailed
from deploy import debian

PROGRAM = "wrk"
# What a numbered request puts its number for.
NUMBER = "NUMBER"
# A prime, so that it has no factor with the numbers of keys that there are.
STRIDE = 999_983
ANSWER_LIMIT_SECONDS = 30
COUNTED_LIMIT_SECONDS = 1_200
DONE = "done"
MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}
LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m) *$", re.MULTILINE)
RATE = re.compile(r"^Requests/sec:\s+([\d.]+)$", re.MULTILINE)
TOTAL = re.compile(r"^\s+(\d+) requests in ", re.MULTILINE)
REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")
BROKEN = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    body: str = ""


def find() -> Path:
    if shutil.which(PROGRAM) is None:
        debian.install(PROGRAM)
    found = shutil.which(PROGRAM)
    if found is None:
        raise FileNotFoundError(
            f"{PROGRAM}, which makes the load, is missing; on Debian and Ubuntu: sudo apt-get install {PROGRAM}"
        )
    return Path(found)


def in_turn(requests: Sequence[Request], content_type: str) -> str:
    """A script that sends the same requests over and over; each is put together once."""
    made = "".join(f"  requests[#requests + 1] = {_formatted(request)}\n" for request in requests)
    return (
        f"{_headers(content_type)}local requests, next = {{}}, 0\nfunction init()\n{made}end\n"
        "function request()\n  next = next % #requests + 1\n  return requests[next]\nend\n"
    )


def numbered(request: Request, content_type: str, count: int | None = None, below: int | None = None) -> str:
    """A script that puts 1, 2, 3 and so on in for NUMBER. It says when `count` requests are answered and repeats the last one then.
    With `below`, it puts in numbers below that instead, each far from the one before."""
    word = "number" if below is None else f"number * {STRIDE} % {below}"
    # wrk begins with a request that it looks at and does not send: that one has the number 0.
    script = (
        f"{_headers(content_type)}local path, body, number = {_quoted(request.path)}, {_quoted(request.body)}, -1\n"
        "function request()\n"
        f"  if number < {count or 'math.huge'} then number = number + 1 end\n"
        f'  local word = string.format("%d", {word})\n'
        f'  return wrk.format("POST", (path:gsub("{NUMBER}", word)), nil, (body:gsub("{NUMBER}", word)))\n'
        "end\n"
    )
    if count is None:
        return script
    said = f'  if answered == {count} then io.write("{DONE}\\n") io.flush() end\n'
    return f"{script}local answered = 0\nfunction response()\n  answered = answered + 1\n{said}end\n"


def _headers(content_type: str) -> str:
    return f'wrk.headers["Content-Type"] = {_quoted(content_type)}\n'


def _formatted(request: Request) -> str:
    if request.body:
        return f'wrk.format("POST", {_quoted(request.path)}, nil, {_quoted(request.body)})'
    return f'wrk.format("GET", {_quoted(request.path)})'


def _quoted(text: str) -> str:
    """JSON escapes quotes and backslashes as Lua does."""
    return json.dumps(text)


def run(port: int, script: str, connections: int, seconds: float) -> Figures:
    """Load for so many seconds, as fast as the answers come."""
    with tempfile.TemporaryDirectory() as folder:
        command = _command(port, script, connections, max(1, round(seconds)), Path(folder))
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + 2 * ANSWER_LIMIT_SECONDS, check=False
        )
    if done.returncode:
        raise LoadFailed(f"wrk ended with {done.returncode}: {done.stderr or done.stdout}")
    return parse(done.stdout)


def run_counted(port: int, script: str, connections: int) -> Figures:
    """Load until a numbered script has had all its answers. wrk knows no such end and is interrupted at that moment."""
    with tempfile.TemporaryDirectory() as folder:
        command = _command(port, script, connections, COUNTED_LIMIT_SECONDS, Path(folder))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                if line.strip() == DONE:
                    process.send_signal(signal.SIGINT)
                lines.append(line)
    return parse("".join(lines))


def _command(port: int, script: str, connections: int, seconds: int, folder: Path) -> list[str]:
    file = folder / "load.lua"
    file.write_text(script)
    limits = [f"-d{seconds}s", "--timeout", f"{ANSWER_LIMIT_SECONDS}s"]
    return [str(find()), "-t1", f"-c{connections}", *limits, "--latency", "-s", str(file), f"http://{HOST}:{port}/"]


def parse(summary: str) -> Figures:
    """Requests per second and the latencies; an answer that is an error, or none, makes all of it worthless."""
    rate, total = RATE.search(summary), TOTAL.search(summary)
    if rate is None or total is None:
        raise LoadFailed(f"wrk printed no summary: {summary[-500:]!r}")
    if not int(total[1]):
        raise LoadFailed("no answer came before the time was over")
    if refused := REFUSED.search(summary):
        raise LoadFailed(f"{refused[1]} of {total[1]} answers were errors")
    if (broken := BROKEN.search(summary)) and any(map(int, broken.groups())):
        raise LoadFailed(f"connections failed: {broken[0]}")
    latencies = {f"p{which}_ms": float(value) * MILLISECONDS[unit] for which, value, unit in LATENCY.findall(summary)}
    return {"requests": float(total[1]), "requests_s": float(rate[1]), **latencies}
