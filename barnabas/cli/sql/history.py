"""What was typed at the SQL prompt, kept between sessions: each statement whole, with its lines."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Final

from barnabas.kernel.state_folder import state_folder

HISTORY_MAX: Final = 2_000
"""Statements that are kept."""
_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


class History:
    """A file with a statement in each line, as JSON. Sessions that run at the same time add to it side by side. A home that cannot be
    written to costs the history alone."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last = ""

    def load(self) -> list[str]:
        """The statements of earlier sessions, the oldest first; what is too much is forgotten."""
        try:
            lines = self._file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return []
        if len(lines) > 2 * HISTORY_MAX:
            lines = lines[-HISTORY_MAX:]
            with contextlib.suppress(OSError):
                self._file.write_text("".join([f"{line}\n" for line in lines]), encoding="utf-8")
        return [text for line in lines[-HISTORY_MAX:] if (text := _parsed(line))]

    def add(self, statement: str) -> bool:
        """False when it is the one that was added last."""
        if statement == self._last:
            return False
        self._last = statement
        # Statements may hold what is not for everybody's eyes.
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _FILE_MODE)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps(statement, ensure_ascii=False) + "\n")
        return True


def history_file() -> Path:
    return state_folder() / "sql_history"


def _parsed(line: str) -> str | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, str) else None
