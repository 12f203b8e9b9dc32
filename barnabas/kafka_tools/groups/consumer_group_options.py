"""The options of kafka-consumer-groups and the rules for using them together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from barnabas.kafka_tools.groups.offset_resets import ResetKind
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed

ACTIONS: Final = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
TIMEOUT_MS: Final = 30_000
PURPOSE: Final = (
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, "
    "or reset consumer group offsets."
)

_RESET_KINDS: Final = tuple(kind.value for kind in ResetKind)
# The options that make no sense without one of others.
_NEEDS: Final = {
    "members": ("describe",),
    "offsets": ("describe",),
    "state": ("describe", "list"),
    "type": ("list",),
    "verbose": ("describe",),
}
_NO_ACTION: Final = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are scripting "
    "this command and want to keep the current default behavior without prompting."
)


def make_parser() -> OptionParser:
    parser = OptionParser()
    parser.takes(
        "bootstrap-server", "Brokers to begin with. Needed for all but --validate-regex.", "server to connect to"
    )
    parser.takes("group", "A consumer group; may be repeated.", "consumer group")
    parser.takes(
        "topic",
        "A topic, or some of its partitions as in `orders:0,1`, whose offsets to reset or delete; may be repeated.",
        "topic",
    )
    parser.flag("all-topics", "Reset every topic that the group has offsets for.")
    parser.flag("list", "List the consumer groups.")
    parser.flag("describe", "Show a group: its offsets and its lag, its members or its state.")
    parser.flag("all-groups", "Every consumer group.")
    parser.flag("delete", "Delete groups with all that they have committed.")
    parser.takes("timeout", "How long to wait for the brokers.", "timeout (ms)", kind="Long", default=TIMEOUT_MS)
    parser.takes("command-config", "A properties file for the client.", "command config property file")
    parser.flag(
        "reset-offsets",
        "Set the offsets of groups without members. Shows the plan only, unless --execute is given.\n"
        "Say where to: " + ", ".join(f"--{name}" for name in _RESET_KINDS) + ".\n"
        "Say what: --all-topics or --topic, except with --from-file.",
    )
    parser.flag("delete-offsets", "Delete what a group has committed for topics.")
    parser.flag("dry-run", "Show the new offsets and change nothing.")
    parser.flag("execute", "Set the new offsets.")
    parser.flag("export", "Print the new offsets as CSV, as --from-file reads them.")
    parser.takes("to-offset", "Reset to this offset.", "offset", kind="Long")
    parser.takes("from-file", "Reset to the offsets of a CSV file.", "path to CSV file")
    parser.takes("to-datetime", "Reset to a point in time: 'YYYY-MM-DDThh:mm:ss.sss'.", "datetime")
    parser.takes("by-duration", "Reset to so long ago: 'PnDTnHnMnS'.", "duration")
    parser.flag("to-earliest", "Reset to the beginning.")
    parser.flag("to-latest", "Reset to the end.")
    parser.flag("to-current", "Reset to what is committed, or to the end where nothing is.")
    parser.takes(
        "shift-by", "Reset by so many records forward or, if negative, back.", "number-of-offsets", kind="Long"
    )
    parser.flag("members", "With --describe: the members.")
    parser.flag("verbose", "With --describe: more columns.")
    parser.flag("offsets", "With --describe: offsets and lag. This is the default.")
    parser.takes(
        "state", "With --describe: the state. With --list: the states, or only groups in these.", optional=True
    )
    parser.takes("type", "With --list: the types, or only groups of these.", optional=True)
    parser.takes("validate-regex", "Check that a regular expression is one that brokers accept (RE2).", "regex")
    return parser


def parse(arguments: Sequence[str]) -> Parsed:
    """A command line that makes sense; UsageError or ToolError otherwise."""
    parser = make_parser()
    try:
        parsed = parser.parse(arguments)
    except OptionError as error:
        raise ToolError(str(error)) from None
    unavailable = [
        name for name, others in _NEEDS.items() if parsed.has(name) and not any(parsed.has(other) for other in others)
    ]
    if unavailable:
        raise ToolError(f"Option(s) [{', '.join(unavailable)}] are unavailable given other options on the command line")
    parsed.show_help_or_version(PURPOSE)
    if not parsed.has("validate-regex"):
        parsed.require("bootstrap-server")
    _check_describe(parsed)
    _check_delete(parsed)
    _check_reset(parsed)
    parsed.forbid("group", "all-groups")
    parsed.forbid("group", "list")
    parsed.forbid("topic", "list", "describe")
    if sum(parsed.has(action) for action in ACTIONS) != 1:
        shown = ", ".join(f"--{action}" for action in ACTIONS)
        parsed.fail(f"Command must include exactly one action: {shown}")
    return parsed


def _check_describe(parsed: Parsed) -> None:
    if not parsed.has("describe"):
        return
    _require_groups(parsed, "describe")
    if sum(parsed.has(name) for name in ("members", "offsets", "state")) > 1:
        parsed.fail("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if parsed.has_argument("state"):
        parsed.fail("Option [describe] does not take a value for [state]")


def _check_delete(parsed: Parsed) -> None:
    if parsed.has("delete"):
        _require_groups(parsed, "delete")
        if parsed.has("topic"):
            parsed.fail("The consumer does not support topic-specific offset deletion from a consumer group.")
    if parsed.has("delete-offsets") and not (parsed.has("group") and parsed.has("topic")):
        parsed.fail("Option [delete-offsets] takes the following options: [group], [topic]")


def _check_reset(parsed: Parsed) -> None:
    if not parsed.has("reset-offsets"):
        return
    if parsed.has("dry-run") and parsed.has("execute"):
        parsed.fail("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not parsed.has("dry-run") and not parsed.has("execute"):
        print(_NO_ACTION, file=sys.stderr)
    _require_groups(parsed, "reset-offsets")
    for used in _RESET_KINDS:
        parsed.forbid(used, *(other for other in _RESET_KINDS if other != used))


def _require_groups(parsed: Parsed, action: str) -> None:
    if not parsed.has("group") and not parsed.has("all-groups"):
        parsed.fail(f"Option [{action}] takes one of these options: [group], [all-groups]")
