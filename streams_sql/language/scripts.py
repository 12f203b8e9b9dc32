"""RUN SCRIPT: the client that has the files executes it, no server does."""

from __future__ import annotations

import re
from typing import Final

from streams_sql.problem import SqlProblem

SCRIPTS_WITHIN_MAX: Final = 16
"""Scripts that a script may run, one within the other."""

_RUN: Final = re.compile(r"RUN\s+SCRIPT\s+(?:'((?:[^']|'')+)'|\"([^\"]+)\"|([^\s'\"]+?))\s*;?", re.IGNORECASE)


def runs_script(statement: str) -> bool:
    return statement.split(None, 1)[0].rstrip(";").upper() == "RUN"


def script_name(statement: str) -> str:
    """The file of RUN SCRIPT 'file'. SqlProblem."""
    found = _RUN.fullmatch(statement)
    if found is None:
        raise SqlProblem("This runs nothing. Write RUN SCRIPT 'file.sql';")
    return (found[1] or "").replace("''", "'") or found[2] or found[3]


def check_depth(depth: int) -> None:
    """SqlProblem where a script is so many others deep."""
    if depth >= SCRIPTS_WITHIN_MAX:
        raise SqlProblem(f"{SCRIPTS_WITHIN_MAX} scripts run each other already: does one run itself?")
