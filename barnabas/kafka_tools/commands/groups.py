"""kafka-groups: lists the groups of every type."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin import session as sessions
from barnabas.client.admin.group_admin import GroupAdmin, ListedGroup
from barnabas.client.admin.session import Session
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS
from barnabas.kafka_tools.shell.options import OptionParser, Parsed
from barnabas.kernel.java.hash_map import hash_map_order
from barnabas.kernel.java.java_exceptions import JavaFailure
from barnabas.kernel.java.kafka_exceptions import message_of
from barnabas.wire.errors import KafkaError

TYPES: Final = {"consumer": "Consumer", "classic": "Classic", "share": "Share", "streams": "Streams"}
NARROWEST_CHARACTERS: Final = 20
_KINDS: Final = ("consumer", "share", "streams")


def main(arguments: Sequence[str]) -> int:
    parsed = _parse(arguments)
    chosen = parsed.value("group-type")
    if chosen is not None and chosen.lower() not in TYPES:
        print("--group-type must be a valid group type.", file=sys.stderr)
        return FAILURE
    try:
        groups = sessions.run(_groups(parsed))
    except (KafkaError, JavaFailure) as error:
        message = message_of(error) if isinstance(error, KafkaError) else error.message
        print(f"Error while executing groups command : {message}")
        return FAILURE
    _print([group for group in groups if _is_wanted(group, parsed)])
    return SUCCESS


def _parse(arguments: Sequence[str]) -> Parsed:
    parser = OptionParser()
    parser.takes("bootstrap-server", "Brokers to begin with.", "server to connect to", required=True)
    parser.takes("command-config", "A properties file for the client.", "command config property file")
    parser.flag("list", "List the groups.")
    parser.takes("group-type", "Only groups of this type: 'classic', 'consumer', 'share' or 'streams'.", "type")
    parser.takes("protocol", "Only groups with this type of protocol.", "protocol")
    parser.flag("consumer", "Only groups of consumers, of either type, and groups that merely hold offsets.")
    parser.flag("share", "Only share groups.")
    parser.flag("streams", "Only streams groups.")
    parsed = parser.parse_or_fail(arguments)
    parsed.show_help_or_version("This tool helps to list groups of all types.")
    if not parsed.has("list"):
        parsed.fail("Command must include exactly one action: --list.")
    for kind in _KINDS:
        others = [other for other in _KINDS if other != kind]
        parsed.forbid(kind, *others, "group-type", "protocol")
    return parsed


async def _groups(parsed: Parsed) -> list[ListedGroup]:
    async with Session.open(parsed.text("bootstrap-server"), parsed.value("command-config")) as session:
        groups = {group.group_id: group for group in await GroupAdmin(session).list_groups()}
    return [groups[group_id] for group_id in hash_map_order(groups)]


def _is_wanted(group: ListedGroup, parsed: Parsed) -> bool:
    if parsed.has("consumer"):
        is_simple = group.type == "Classic" and group.protocol_type in ("", "consumer")
        return group.type == "Consumer" or is_simple
    if parsed.has("share"):
        return group.type == "Share"
    if parsed.has("streams"):
        return group.type == "Streams"
    kind, protocol = parsed.value("group-type"), parsed.value("protocol")
    return (kind is None or group.type == TYPES[kind.lower()]) and protocol in (None, group.protocol_type)


def _print(groups: Sequence[ListedGroup]) -> None:
    width = max([NARROWEST_CHARACTERS, *(len(group.group_id) for group in groups)])
    print(f"{'GROUP':<{width}} {'TYPE':<{width}} {'PROTOCOL':<{width}}")
    for group in groups:
        print(f"{group.group_id:<{width}} {group.type:<{width}} {group.protocol_type:<{width}} ")
