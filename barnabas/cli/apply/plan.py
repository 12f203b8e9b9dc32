"""What an apply would change, shown as a difference."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TextIO

from barnabas.cli.output import printable, say
from barnabas.cli.terminal import styles
from barnabas.cli.terminal.styles import styled

TOPIC: Final = "topic"
SCHEMA: Final = "schema"
CONNECTOR: Final = "connector"
SQL: Final = "sql"


class Action(Enum):
    """The sign that stands before it, and its name in JSON."""

    CREATE = "+"
    CHANGE = "~"
    DELETE = "-"
    KEEP = "="
    REFUSE = "!"


_STYLES: Final = {
    Action.CREATE: styles.GREEN, Action.CHANGE: styles.YELLOW, Action.DELETE: styles.RED, Action.KEEP: styles.DIM,
    Action.REFUSE: styles.RED,
}  # fmt: skip
_WORDS: Final = {
    Action.CREATE: "to create", Action.CHANGE: "to change", Action.DELETE: "to delete", Action.KEEP: "unchanged",
    Action.REFUSE: "not possible",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """One thing that becomes another; None is nothing, or what the service chooses."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """`key` is what the record of what was made knows it by, and `fingerprint` is kept there, too, where there is one. `work` does it, and returns what is to be said of it; `lines` are a difference of texts, `note` is a reason. `is_new`: there is nothing yet that it changes."""

    kind: str
    name: str
    action: Action
    members: tuple[Member, ...] = ()
    lines: tuple[str, ...] = ()
    note: str = ""
    work: Callable[[], str | None] | None = field(default=None, compare=False)
    key: str = ""
    fingerprint: str = ""
    is_new: bool = False

    @property
    def owned_as(self) -> str:
        return self.key or self.name

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"kind": self.kind, "name": self.name, "action": self.action.name.lower()}
        if self.members:
            shown["members"] = [{"name": each.name, "old": each.old, "new": each.new} for each in self.members]
        if self.lines:
            shown["diff"] = list(self.lines)
        if self.note:
            shown["note"] = self.note
        return shown


def refused(kind: str, name: str, reason: str, members: Sequence[Member] = (), *, is_new: bool = False) -> Change:
    return Change(kind, name, Action.REFUSE, tuple(members), note=reason, is_new=is_new)


def counts(changes: Iterable[Change]) -> dict[Action, int]:
    found = dict.fromkeys(Action, 0)
    for change in changes:
        found[change.action] += 1
    return found


def show(out: TextIO, changes: Sequence[Change]) -> None:
    for change in changes:
        _line(out, change.action, "", f"{change.action.value} {change.kind} {printable(change.name)}")
        for member in change.members:
            old, new = _value(member.old), _value(member.new)
            is_new = change.is_new or change.action is Action.CREATE
            text = f"{member.name}: {new}" if is_new else f"{member.name}: {old} → {new}"
            _line(out, change.action, "    ", printable(text))
        for line in change.lines:
            _line(out, {"+": Action.CREATE, "-": Action.DELETE}.get(line[:1], Action.KEEP), "    ", line)
        for text in change.note.splitlines():
            out.write(f"    {printable(text.expandtabs())}\n")
    found = counts(changes)
    summary = [f"{count} {_WORDS[action]}" for action, count in found.items() if count]
    out.write(f"{', '.join(summary) or 'The file asks for nothing'}.\n")


def _line(out: TextIO, action: Action, indent: str, text: str) -> None:
    out.write(indent + styled(text, _STYLES[action], out) + "\n")


def _value(text: str | None) -> str:
    return "(default)" if text is None else text or "''"


def report(text: str) -> None:
    """Progress goes beside the answer, so that JSON stays whole."""
    say(text, sys.stderr)
    sys.stderr.flush()
