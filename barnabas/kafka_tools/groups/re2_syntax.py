"""Whether a regular expression has the syntax that brokers accept in subscriptions (RE2), and Kafka's words if it has not."""

from __future__ import annotations

import re
from typing import Final

import re2  # type: ignore[import-untyped]  # it has no stubs

# What the library says, and what the one in Kafka says of the same mistake.
_COMPLAINTS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "regexp/syntax: internal error",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
_NAMED: Final = re.compile(r"\(\?P?<(\w+)>")


def complaint(pattern: str) -> str | None:
    """None for a pattern that can be used."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        kind = said.partition(":")[0]
        return _COMPLAINTS.get(kind, kind)
    names = _NAMED.findall(pattern)
    return "duplicate capture group name" if len(names) != len(set(names)) else None
