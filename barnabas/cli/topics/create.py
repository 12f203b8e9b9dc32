"""`barnabas topics create`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_topic
from barnabas.cli.command_parser import add_report_form, whole_number
from barnabas.cli.key_values import parse_key_values
from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

BROKER_DEFAULT: Final = -1


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_report_form(parser)
    add_topic(parser)
    parser.add_argument(
        "--partitions", "-p", type=whole_number(1), metavar="N", help="number of partitions (the broker's default)"
    )
    parser.add_argument(
        "--replication-factor",
        type=whole_number(1),
        metavar="N",
        help="copies of each partition (the broker's default)",
    )
    # The second name is that of Kafka's tools.
    parser.add_argument(
        "--set", "--config", action="append", default=[], metavar="NAME=VALUE", help="a configuration; may be repeated"
    )


def run(arguments: Namespace) -> int:
    return connection.run(_create, arguments)


async def _create(session: Session, arguments: Namespace) -> int:
    configs = parse_key_values(arguments.set)
    topic = CreatableTopic(
        name=arguments.topic,
        num_partitions=arguments.partitions or BROKER_DEFAULT,
        replication_factor=arguments.replication_factor or BROKER_DEFAULT,
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=session.config.request_timeout_ms)
    result = (await session.send_to_controller(request, CreateTopicsResponse)).topics[0]
    if result.error_code:
        raise error_of(result.error_code, result.error_message)
    output.report(arguments.output, {"topic": arguments.topic, "result": "created"}, f"created topic {arguments.topic}")
    return 0
