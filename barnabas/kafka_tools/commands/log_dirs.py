"""`kafka-log-dirs`: what lies in the log directories of the brokers, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from barnabas.client.admin.session import Session, run
from barnabas.kafka_tools.shell.exits import SUCCESS, ToolError
from barnabas.kafka_tools.shell.options import OptionError, OptionParser, Parsed
from barnabas.kernel.java.hash_map import hash_map_order, partition_map_order
from barnabas.kernel.java.kafka_exceptions import class_name, error_of
from barnabas.wire.errors import ErrorCode

if TYPE_CHECKING:
    from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsPartition, DescribeLogDirsResult

PURPOSE: Final = "This tool helps to query log directory usage on the specified brokers."
CLIENT_ID: Final = "log-dirs-tool"


def main(arguments: Sequence[str]) -> int:
    parser = _parser()
    try:
        parsed = parser.parse(arguments)
        parsed.show_help_or_version(PURPOSE)
        parsed.require("bootstrap-server", "describe")
        topics = _listed(parsed, "topic-list")
        brokers = [_broker(text) for text in _listed(parsed, "broker-list")]
        session = Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"))
    except OptionError as error:
        raise ToolError(f"{error}. Try --help for the list of options.") from None
    run(_show(session, topics, brokers))
    return SUCCESS


def _listed(parsed: Parsed, option: str) -> list[str]:
    return [word for word in (parsed.value(option) or "").split(",") if word]


def _broker(text: str) -> int:
    if not text.lstrip("+-").isdigit():
        raise ToolError(f'For input string: "{text}". --broker-list takes numbers of brokers, as in 0,1,2.')
    return int(text)


async def _show(session: Session, topics: Sequence[str], wanted: Sequence[int]) -> None:
    async with session:
        alive = sorted((await session.cluster()).nodes)
        unknown = sorted(set(wanted) - set(alive))
        if unknown:
            raise ToolError(
                f"ERROR: The given brokers do not exist from --broker-list: {_numbers(unknown)}. "
                f"Current existent brokers: {_numbers(alive)}"
            )
        brokers = sorted(set(wanted)) or alive
        print("Querying brokers for log directories information")
        described = [
            _object({"broker": broker, "logDirs": await _directories(session, broker, topics)}) for broker in brokers
        ]
    print(f"Received log directory information from brokers {_numbers(brokers)}")
    print(json.dumps(_object({"version": 1, "brokers": described}), separators=(",", ":"), ensure_ascii=False))


def _numbers(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields in the order in which Java writes them."""
    return {name: fields[name] for name in hash_map_order(fields)}


async def _directories(session: Session, broker: int, topics: Sequence[str]) -> list[dict[str, Any]]:
    from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

    answer = await session.send(
        DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, node=broker, call="describeLogDirs"
    )
    if answer.error_code:
        raise error_of(answer.error_code, None)
    results = {result.log_dir: result for result in answer.results}
    return [_directory(results[name], topics) for name in hash_map_order(results)]


def _directory(result: DescribeLogDirsResult, topics: Sequence[str]) -> dict[str, Any]:
    replicas: dict[tuple[str, int], DescribeLogDirsPartition] = {
        (topic.name, part.partition_index): part
        for topic in result.topics
        for part in topic.partitions
        if not topics or topic.name in topics
    }
    shown = [
        _object(
            {
                "partition": f"{topic}-{index}",
                "size": replicas[topic, index].partition_size,
                "offsetLag": replicas[topic, index].offset_lag,
                "isFuture": replicas[topic, index].is_future_key,
            }
        )
        for topic, index in partition_map_order(replicas)
    ]
    error = class_name(ErrorCode(result.error_code)) if result.error_code else None
    return _object({"logDir": result.log_dir, "error": error, "partitions": shown})


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("bootstrap-server", "REQUIRED: the brokers to begin with.", "The server(s) to use for bootstrapping")
    parser.takes("command-config", "File with properties of the client.", "Admin client property file")
    parser.flag("describe", "Print what lies in the log directories.")
    parser.takes("topic-list", "Topics to look for, with commas; all if it is left out.", "Topic list", default="")
    parser.takes("broker-list", "Brokers to ask, as in 0,1,2; all if it is left out.", "Broker list", default="")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
