"""Asking before something is done that cannot be undone."""

from __future__ import annotations

import sys

from barnabas.cli.command_error import CommandError


def confirm(question: str) -> None:
    """Return when the user at the terminal says yes; CommandError otherwise."""
    if not sys.stdin.isatty():
        raise CommandError("nothing was changed: this cannot be undone", "Say so with --yes.", status=2)
    # Standard output is for the result alone, which may go to a program.
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was done")
