"""`kafka-get-offsets`: the offsets of partitions, now or at a time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_error import ClientError
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kafka_tools.topic_filter import matching
from barnabas.kernel.java.kafka_exceptions import described, message_of
from barnabas.wire.errors import KafkaError

PURPOSE: Final = "An interactive shell for getting topic-partition offsets."
CLIENT_ID: Final = "GetOffsetShell"
# What may stand for a time, and the number that asks a broker for it.
NAMED_TIMES: Final = {
    "latest": -1,
    "earliest": -2,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
UNKNOWN_OFFSET: Final = -1
PARTITION_MAX: Final = 0x7FFFFFFF

_RULE: Final = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")

# A pattern for the topic, and which of its partitions are meant.
Rule = tuple[str, Callable[[int], bool]]


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    try:
        parsed = parser.parse(arguments)
        parsed.show_help_or_version(PURPOSE)
        parsed.require("bootstrap-server")
        _check_bootstrap(parsed)
        lines = run(_offsets(parsed))
    except (OptionError, ClientError) as error:
        return _failed(str(error))
    except KafkaError as error:
        return _failed(message_of(error))
    for line in lines:
        print(line)
    return SUCCESS


def _failed(message: str) -> int:
    print(f"Error occurred: {message}", file=sys.stderr)
    return FAILURE


async def _offsets(parsed: Parsed) -> list[str]:
    if parsed.has("topic-partitions") and (parsed.has("topic") or parsed.has("partitions")):
        raise ToolError("--topic-partitions cannot be used with --topic or --partitions")
    timestamp = _timestamp(parsed.text("time"))
    rules = _rules(parsed)
    session = Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"), {"client.id": CLIENT_ID})
    async with session:
        partitions = await _partitions(session, rules, hide_internal=parsed.has("exclude-internal-topics"))
        if not partitions:
            raise ToolError("Could not match any topic-partitions with the specified filters")
        from barnabas.client.admin.listed_offsets import list_offsets

        found = await list_offsets(session, dict.fromkeys(partitions, timestamp))
    lines = {}
    for topic, partition in partitions:
        offset = found[topic, partition]
        if isinstance(offset, KafkaError):
            where = f"{topic}-{partition}"
            print(
                f"Skip getting offsets for topic-partition {where} due to error: {described(offset)}", file=sys.stderr
            )
        elif offset.offset != UNKNOWN_OFFSET:
            lines[f"{topic}-{partition}"] = f"{topic}:{partition}:{offset.offset}"
    return [lines[name] for name in sorted(lines)]


async def _partitions(session: Session, rules: Sequence[Rule], *, hide_internal: bool) -> list[tuple[str, int]]:
    answer = await session.metadata()
    found = []
    for topic in answer.topics:
        name = topic.name
        if name is None or (hide_internal and topic.is_internal):
            continue
        meant = [allows for pattern, allows in rules if matching([name], pattern)]
        indexes = sorted(partition.partition_index for partition in topic.partitions)
        found += [(name, index) for index in indexes if any(allows(index) for allows in meant)]
    return found


def _rules(parsed: Parsed) -> list[Rule]:
    if parsed.has("topic-partitions"):
        return [_rule(text) for text in parsed.text("topic-partitions").split(",")]
    text = parsed.value("partitions") or ""
    if text and not all(re.fullmatch(r"[+-]?\d+", word) for word in text.split(",")):
        raise ToolError(f"--partitions expects a comma separated list of numeric partition ids, but received: {text}")
    wanted = {int(word) for word in text.split(",")} if text else set()
    return [(parsed.value("topic") or ".*", lambda index: not wanted or index in wanted)]


def _rule(text: str) -> Rule:
    """`topic`, `topic:3`, `topic:2-5` (without the last), `topic:2-`, `topic:-5` or the same without a topic."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise ToolError(f"org.apache.kafka.tools.TerseException: Invalid rule specification: {text}")
    topic, one, first, end = found.groups()
    if one:
        return topic or ".*", lambda index: index == int(one)
    if first is not None or end is not None:
        low, high = int(first or 0), int(end or PARTITION_MAX)
        return topic or ".*", lambda index: low <= index < high
    return topic or ".*", lambda index: True


def _timestamp(text: str) -> int:
    if text in NAMED_TIMES:
        return NAMED_TIMES[text]
    if not re.fullmatch(r"[+-]?\d+", text):
        raise ToolError(
            f"Malformed time argument {text}. Please use -1 or latest / -2 or earliest / -3 or max-timestamp / "
            "-4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, "
            "or a specified long format timestamp"
        )
    return int(text)


def _check_bootstrap(parsed: Parsed) -> None:
    text = parsed.text("bootstrap-server")
    entries = [entry.strip() for entry in text.split(",")]
    if not text.strip():
        parsed.fail("Error while validating the bootstrap address\n")
    if not all(re.fullmatch(r".*?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+", entry) for entry in entries):
        parsed.fail("Please provide valid host:port like host1:9091,host2:9092\n")


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED. The brokers to begin with.", "HOST1:PORT1,...,HOST3:PORT3")
    parser.takes(
        "topic-partitions",
        "Which partitions: a list of TOPIC:PARTITION, where TOPIC is a regular expression (any topic if it is left "
        "out) and PARTITION a number, a range such as 0-3 (without the last one), 5- or -3; all partitions if it is "
        "left out.",
        "topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
    )
    parser.takes("topic", "The topic, a regular expression; not beside --topic-partitions.", "topic")
    parser.takes("partitions", "Numbers of partitions, with commas; not beside --topic-partitions.", "partition ids")
    parser.takes(
        "time",
        "The offset of the first record at or after this time, in milliseconds since 1970; nothing is printed if "
        "there is no such record.",
        "<timestamp> / -1 or latest / -2 or earliest / -3 or max-timestamp / -4 or earliest-local / "
        "-5 or latest-tiered / -6 or earliest-pending-upload",
        default="latest",
    )
    parser.takes("command-config", "File with properties of the client.", "config file")
    parser.flag("exclude-internal-topics", "Leave out the cluster's own topics.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
