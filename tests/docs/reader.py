"""Somebody who reads a page at a running platform and types what stands there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import Block
from tests.platform_process import SERVICES, PlatformProcess
from tests.ports import HOST, free_port
from tests.waiting import wait_for

BLOCK_DEADLINE_S = 90.0
REPEATED_DEADLINE_S = 240.0
"""The first result of a query waits for Spark."""
PORTS = {9092: "broker", 8081: "registry", 8082: "rest", 8083: "connect", 8088: "sql"}
PROGRAMS = ("curl", "kcat")
"""What a machine may lack."""

_ADDRESS = re.compile(rf"{re.escape(HOST)}:(\d{{4,5}})\b")
# What a block has set is there for those behind it, as in one shell.
_SHELL = """set -ea
[ ! -f {state} ] || . {state}
trap 'declare -px > {state}' EXIT
{text}"""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a block came to."""

    status: int
    out: str
    err: str

    def complaint(self, wanted: str | None) -> str:
        """Why it is not what the page promises; empty if it is."""
        if self.status != 0:
            return f"ended with {self.status}"
        if wanted is not None and not matches(self.out, wanted):
            return f"did not print this:\n{wanted}"
        return ""


def matches(printed: str, wanted: str) -> bool:
    """Whether a text is another in which `…` stands for anything; how wide a table is, and how it ends, does not matter."""
    pattern = ".*".join(re.escape(part) for part in _plain(wanted.rstrip("\n")).split("…"))
    return re.fullmatch(pattern, _plain(printed.rstrip("\n")), re.DOTALL) is not None


def _plain(text: str) -> str:
    return re.sub(r"[ \t]+", " ", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))


class Reader:
    """One shell for a page, in the folder of the platform. What a page leaves running ends with it."""

    def __init__(self, platform: PlatformProcess, folder: Path) -> None:
        self._platform = platform
        self._folder = folder
        self._ports: dict[int, str] = {}
        self._started: list[int] = []

    def read(self, block: Block) -> None:
        """Do what a block says; an AssertionError tells its place and all that it printed."""
        for program in PROGRAMS:
            if block.is_run and re.search(rf"\b{program} ", block.text) and shutil.which(program) is None:
                pytest.skip(f"{block.place}: {program} is not installed")
        if block.file is not None:
            (self._platform.home / block.file).write_text(self._placed(block.text))
        if not block.is_run or (block.file is not None and not block.file.startswith("test_")):
            return
        words, text = self._typed(block)
        wanted = None if block.output is None else self._placed(block.output)
        ended = self._run(words, text)
        complaint = ended.complaint(wanted)

        def is_well() -> bool:
            nonlocal ended, complaint
            if complaint and block.is_repeated:
                ended = self._run(words, text)
                complaint = ended.complaint(wanted)
            return not complaint

        try:
            wait_for(is_well, block.place, REPEATED_DEADLINE_S if block.is_repeated else 0)
        except AssertionError:
            raise AssertionError(f"{block.place} {complaint}\n--- out\n{ended.out}\n--- err\n{ended.err}") from None

    def leave(self) -> None:
        for group in self._started:
            try:
                os.killpg(group, signal.SIGTERM)
            except ProcessLookupError:
                continue

    def _typed(self, block: Block) -> tuple[Sequence[str], str]:
        """The program that a block is for, and what that reads."""
        if block.file is not None:
            return (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", block.file), ""
        if block.language == "python":
            return (sys.executable, "-"), self._placed(block.text)
        state = self._folder / "variables"
        return ("bash",), _SHELL.format(state=state, text=self._placed(block.text))

    def _run(self, words: Sequence[str], text: str) -> Ended:
        # Files, and no pipes: what goes on in the background would hold these open.
        out, err, typed = (self._folder / name for name in ("out", "err", "typed"))
        typed.write_text(text)
        with typed.open() as reading, out.open("w") as writing, err.open("w") as complaining:
            process = subprocess.Popen(
                words,
                stdin=reading,
                stdout=writing,
                stderr=complaining,
                cwd=self._platform.home,
                env=self._environment(),
                start_new_session=True,
            )
            self._started.append(process.pid)
            try:
                status = process.wait(BLOCK_DEADLINE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = process.wait()
        return Ended(status, out.read_text(), err.read_text())

    def _environment(self) -> dict[str, str]:
        """That of somebody who has said `source .venv/bin/activate`, and where this platform is."""
        registry, _, connect, sql = (self._platform.url_of(name) for name in SERVICES)
        places = {"SCHEMA_REGISTRY_URL": registry, "CONNECT_URL": connect, "KSQL_URL": sql}
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._folder),
            "KAFKA_BOOTSTRAP_SERVERS": self._platform.address,
            **places,
        }

    def _placed(self, text: str) -> str:
        """The addresses of a page, as they are here: those of the platform, and free ones for whatever else it starts."""

        def address(found: re.Match[str]) -> str:
            port = int(found[1])
            if port not in self._ports:
                service = PORTS.get(port)
                place = f"{HOST}:{free_port()}" if service is None else self._platform.url_of(service)
                self._ports[port] = place.removeprefix("http://")
            return self._ports[port]

        return _ADDRESS.sub(address, text)
