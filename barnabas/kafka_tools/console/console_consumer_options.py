"""The command line of kafka-console-consumer."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.client.client_config import load_properties
from barnabas.client.consumer.consumer import EARLIEST, LATEST
from barnabas.kafka_tools.console import formatters, schema_properties
from barnabas.kafka_tools.console.formatters import Formatter
from barnabas.kafka_tools.shell.exits import ToolError
from barnabas.kafka_tools.shell.key_values import parse_key_values
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed

PURPOSE: Final = "This tool helps to read data from Kafka topics and outputs it to standard output."
CLIENT_ID: Final = "console-consumer"
RANDOM_GROUPS: Final = 100_000
_OFFSET_LIMIT: Final = 1 << 63
_FORMATTER_PROPERTIES: Final = (
    "A property of the formatter, name=value. The default formatter has:"
    "\n print.timestamp=true|false"
    "\n print.key=true|false"
    "\n print.offset=true|false"
    "\n print.epoch=true|false"
    "\n print.partition=true|false"
    "\n print.headers=true|false"
    "\n print.value=true|false"
    "\n key.separator=<key.separator>"
    "\n line.separator=<line.separator>"
    "\n headers.separator=<headers.separator>"
    "\n null.literal=<null.literal>"
    "\n key.deserializer=<key.deserializer>"
    "\n value.deserializer=<value.deserializer>"
    "\n headers.deserializer=<headers.deserializer>"
)


@dataclass(frozen=True, slots=True)
class ConsoleConsumerOptions:
    """What to read and how to show it."""

    bootstrap: str
    topic: str | None
    include: str | None
    partition: int | None
    offset: int
    max_messages: int
    timeout_ms: int | None
    skips_errors: bool
    events: bool
    formatter: Formatter
    properties: Mapping[str, str]


def read_options(arguments: Sequence[str], formatter: str) -> ConsoleConsumerOptions:
    parsed = _parser(formatter).parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    try:
        return _checked(parsed)
    except OptionError as error:
        raise ToolError(str(error)) from None


def _checked(parsed: Parsed) -> ConsoleConsumerOptions:
    parsed.require_one_of("topic", "include")
    partition = parsed.integer("partition")
    if partition is not None:
        if not parsed.has("topic"):
            parsed.fail("The topic is required when partition is specified.")
        if parsed.has("from-beginning") and parsed.has("offset"):
            parsed.fail("Options from-beginning and offset cannot be specified together.")
    elif parsed.has("offset"):
        parsed.fail("The partition is required when offset is specified.")
    parsed.require("bootstrap-server")
    pairs_option = _renamed(parsed, "consumer-property", "command-property")
    file_option = _renamed(parsed, "consumer.config", "command-config")
    properties = _consumer_properties(
        parsed,
        load_properties(parsed.value(file_option), f"--{file_option}"),
        parse_key_values(parsed.values(pairs_option)),
    )
    include = parsed.value("include")
    if include is not None:
        try:
            re.compile(include)
        except re.error as error:
            raise ToolError(f"--include {include!r} is no regular expression: {error}") from None
    timeout_ms = parsed.integer("timeout-ms")
    max_messages = parsed.integer("max-messages")
    return ConsoleConsumerOptions(
        bootstrap=parsed.text("bootstrap-server"),
        topic=parsed.value("topic"),
        include=include,
        partition=partition,
        offset=_offset(parsed),
        max_messages=-1 if max_messages is None else max_messages,
        timeout_ms=timeout_ms if timeout_ms is not None and timeout_ms >= 0 else None,
        skips_errors=parsed.has("skip-message-on-error"),
        events=parsed.has("enable-systest-events"),
        formatter=_formatter(parsed),
        properties=properties,
    )


def _consumer_properties(parsed: Parsed, from_file: dict[str, str], pairs: dict[str, str]) -> dict[str, str]:
    groups = {parsed.value("group"), from_file.get("group.id"), pairs.get("group.id")} - {None}
    if len(groups) > 1:
        shown = ", ".join(f"'{group}'" for group in sorted(str(group) for group in groups))
        parsed.fail(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            f"'--consumer.config') do not match. Detected group ids: {shown}"
        )
    if groups and parsed.has("partition"):
        parsed.fail("Options group and partition cannot be specified together.")
    properties = from_file | pairs
    reset = properties.get("auto.offset.reset")
    if reset is not None and parsed.has("from-beginning") and reset != "earliest":
        raise ToolError(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={reset}', please remove one option"
        )
    properties.setdefault("auto.offset.reset", "earliest" if parsed.has("from-beginning") else "latest")
    properties.setdefault("client.id", CLIENT_ID)
    if parsed.has("isolation-level") or "isolation.level" not in properties:
        properties["isolation.level"] = parsed.text("isolation-level")
    if groups:
        properties["group.id"] = str(groups.pop())
    else:
        properties["group.id"] = f"{CLIENT_ID}-{random.randrange(RANDOM_GROUPS)}"
        # A group that nobody will use again leaves no offsets behind.
        properties.setdefault("enable.auto.commit", "false")
    return properties


def _offset(parsed: Parsed) -> int:
    if not parsed.has("offset"):
        return EARLIEST if parsed.has("from-beginning") else LATEST
    text = parsed.text("offset")
    if text.lower() in ("earliest", "latest"):
        return EARLIEST if text.lower() == "earliest" else LATEST
    if not re.fullmatch(r"\+?\d+", text) or int(text) >= _OFFSET_LIMIT:
        parsed.fail(
            f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', or a non-negative long."
        )
    return int(text)


def _formatter(parsed: Parsed) -> Formatter:
    option = _renamed(parsed, "property", "formatter-property")
    properties = load_properties(parsed.value("formatter-config"), "--formatter-config")
    for part in ("key", "value"):
        name = parsed.value(f"{part}-deserializer")
        if name:
            properties[f"{part}.deserializer"] = name
    properties |= parse_key_values(parsed.values(option))
    class_name = parsed.text("formatter")
    try:
        found = formatters.find(class_name, properties)
    except LookupError as error:
        raise ToolError(f"{error}: name a character set that exists, such as UTF-8") from None
    if found is None:
        parsed.fail(class_name)
    return found


def _renamed(parsed: Parsed, old: str, new: str) -> str:
    if parsed.has(old) and parsed.has(new):
        parsed.fail(f"Options --{old} and --{new} cannot be specified together.")
    if not parsed.has(old):
        return new
    print(f"Option --{old} is deprecated and will be removed in a future version. Use --{new} instead.")
    sys.stdout.flush()
    return old


def _parser(formatter: str) -> OptionParser:
    parser = OptionParser()
    parser.takes("topic", "The topic to read.", "topic")
    parser.takes("include", "Read all topics whose names match this pattern.", "Java regex (String)")
    parser.takes(
        "partition", "The partition to read, from its end unless --offset is given.", "partition", kind="Integer"
    )
    parser.takes("offset", "Where to begin: an offset, earliest or latest.", "consume offset", default="latest")
    parser.takes("consumer-property", "(DEPRECATED) Use --command-property instead.", "consumer_prop")
    parser.takes("command-property", "A property of the consumer, name=value.", "consumer_prop")
    parser.takes("consumer.config", "(DEPRECATED) Use --command-config instead.", "config file")
    parser.takes("command-config", "File of properties of the consumer; --command-property wins.", "config file")
    parser.takes("formatter", "What shows the records.", "class", default=formatter)
    parser.takes("property", "(DEPRECATED) Use --formatter-property instead.", "prop")
    for_schemas = schema_properties.FORMATTER if formatter in formatters.SCHEMA_FORMATTERS else ""
    parser.takes("formatter-property", _FORMATTER_PROPERTIES + for_schemas, "prop")
    parser.takes("formatter-config", "File of properties of the formatter; --formatter-property wins.", "config file")
    parser.flag("from-beginning", "Begin with the oldest record if the group has stored no offset.")
    parser.takes("max-messages", "End after so many records; without it, never.", "num_messages", kind="Integer")
    parser.takes("timeout-ms", "End when no record has come for so long.", "timeout_ms", kind="Long")
    parser.flag("skip-message-on-error", "Leave out records that cannot be shown instead of ending.")
    parser.takes("bootstrap-server", "REQUIRED: Brokers to begin with, host:port,...", "server to connect to")
    parser.takes("key-deserializer", "Class that turns keys into text.", "deserializer for key")
    parser.takes("value-deserializer", "Class that turns values into text.", "deserializer for values")
    parser.flag("enable-systest-events", "Print a line when the consumer has ended.")
    parser.takes(
        "isolation-level",
        "read_committed leaves out records of aborted and open transactions; read_uncommitted shows all.",
        default="read_uncommitted",
    )
    parser.takes("group", "The consumer group to be a member of.", "consumer group id")
    return parser
