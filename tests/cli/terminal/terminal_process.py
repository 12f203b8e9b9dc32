"""A program on a terminal of its own, and somebody who types."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence

from tests.waiting import wait_for

CONTROL_C = "\x03"
CONTROL_D = "\x04"
TAB = "\t"
UP = "\x1b[A"
ROWS = 40
READ_BYTES = 65_536
END_DEADLINE_S = 90.0

# The terminal becomes that of a session of its own, so that its keys are the program's.
_ON_TERMINAL = "import os, sys; os.login_tty(os.dup(0)); os.execv(sys.argv[1], sys.argv[1:])"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x07|\x1b[=>]")


class TerminalProcess:
    """`columns` is how wide the terminal is. What the program shows is kept without what moves the cursor and changes colours."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], columns: int = 100) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *words],
            # The size is the terminal's, whatever that of the tests themselves may be.
            env={
                **{name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")},
                "TERM": "xterm",
                "NO_COLOR": "1",
                "PYTHONUNBUFFERED": "1",
            },
            stdin=slave,
        )
        os.close(slave)
        self._shown = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def enter(self, line: str) -> None:
        self.type(f"{line}\r")

    def shown(self, text: str) -> str:
        """What the program has shown up to a text, which it must show; what comes behind it is kept for the next look."""

        def found() -> bool:
            self._read()
            return text in self._shown

        wait_for(found, f"{text!r} on the terminal")
        seen, _, self._shown = self._shown.partition(text)
        return seen + text

    def ended(self) -> int:
        """The status with which it ends by itself."""

        def has_ended() -> bool:
            self._read()
            return self._process.poll() is not None

        wait_for(has_ended, "the program to end", END_DEADLINE_S)
        return self._process.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _read(self) -> None:
        while select.select([self._master], [], [], 0)[0]:
            try:
                piece = os.read(self._master, READ_BYTES)
            except OSError:
                # The program has closed the other side.
                return
            self._shown += _ESCAPES.sub("", piece.decode("utf-8", "replace")).replace("\r", "")
