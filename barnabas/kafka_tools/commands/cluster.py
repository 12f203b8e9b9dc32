"""`kafka-cluster`: the id of a cluster, its endpoints, and brokers that shall no longer belong to it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from barnabas.client.admin.session import Session, run
from barnabas.client.client_config import COMMAND_CONFIG
from barnabas.kafka_tools.shell.arguments import STORE_TRUE, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolError
from barnabas.kernel.java.kafka_exceptions import described, error_of
from barnabas.wire.errors import ErrorCode, KafkaError

RACK_CHARACTERS: Final = 10

_BROKERS: Final = 1
_CONTROLLERS: Final = 2


def main(arguments: Sequence[str]) -> int:
    values = _parser().parse(arguments)
    if values.text("config") and values.text("command_config"):
        raise ToolError("--config and --command-config cannot be specified together.")
    if values.text("config"):
        print(
            "Option --config has been deprecated and will be removed in a future version. Use --command-config instead."
        )
    if values.text("bootstrap_controller") and values.is_set("include_fenced_brokers"):
        raise ToolError("The option --include-fenced-brokers is only supported with --bootstrap-server option")
    session = Session.open(
        values.text("bootstrap_server") or values.text("bootstrap_controller") or "",
        values.text("command_config") or values.text("config"),
        controllers=values.text("bootstrap_controller") is not None,
        option="--config" if values.text("config") else COMMAND_CONFIG,
    )
    try:
        run(_execute(session, values))
    except KafkaError as error:
        raise ToolError(described(error)) from None
    return SUCCESS


async def _execute(session: Session, values: Values) -> None:
    async with session:
        command = values.text("command")
        if command == "cluster-id":
            cluster_id = (await session.cluster()).cluster_id
            print(f"Cluster ID: {cluster_id}" if cluster_id else _NO_ID)
        elif command == "unregister":
            await _unregister(session, values.integer("id") or 0)
        else:
            await _list_endpoints(session, values)


_NO_ID: Final = "No cluster ID found. The Kafka version is probably too old."


async def _unregister(session: Session, broker: int) -> None:
    from barnabas.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

    try:
        answer = await session.send_to_controller(
            UnregisterBrokerRequest(broker_id=broker), UnregisterBrokerResponse, check=lambda found: found.error_code
        )
    except KafkaError as error:
        if error.code != ErrorCode.UNSUPPORTED_VERSION:
            raise
        print("The target cluster does not support the broker unregistration API.")
        return
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    print(f"Broker {broker} is no longer registered.")


async def _list_endpoints(session: Session, values: Values) -> None:
    from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

    controllers = values.text("bootstrap_controller") is not None
    request = DescribeClusterRequest(
        endpoint_type=_CONTROLLERS if controllers else _BROKERS,
        include_fenced_brokers=values.is_set("include_fenced_brokers"),
    )
    answer = await session.send(request, DescribeClusterResponse, call="listNodes")
    if answer.error_code:
        raise error_of(answer.error_code, answer.error_message)
    host_width = max((len(node.host) for node in answer.brokers), default=len("HOST"))
    rack_width = max((len(node.rack) for node in answer.brokers if node.rack), default=RACK_CHARACTERS)
    state = "" if controllers else f" {'STATE':<10}"
    print(f"{'ID':<10} {'HOST':<{host_width}} {'PORT':<10} {'RACK':<{rack_width}}{state} {'ENDPOINT_TYPE':<15}")
    for node in answer.brokers:
        state = "" if controllers else f" {'fenced' if node.is_fenced else 'unfenced':<10}"
        kind = "controller" if controllers else "broker"
        print(
            f"{node.broker_id:<10} {node.host:<{host_width}} {node.port:<10} {node.rack or 'null':<{rack_width}}"
            f"{state} {kind:<15}"
        )


def _parser() -> ArgumentParser:
    parser = ArgumentParser("kafka-cluster", "What a Kafka cluster consists of.", help_status=FAILURE)
    commands = [
        parser.command("cluster-id", "Print the id of the cluster."),
        parser.command("unregister", "Take a broker out of the cluster."),
        parser.command("list-endpoints", "Print where brokers or controllers listen."),
    ]
    for command in commands:
        group = command.group(exclusive=True, required=True)
        command.add("--bootstrap-server", "-b", about="Brokers to begin with, as host:port.", group=group)
        command.add("--bootstrap-controller", "-C", about="Controllers to begin with, as host:port.", group=group)
        command.add("--config", about="(DEPRECATED) The same as --command-config.")
        command.add("--command-config", "-c", about="File with properties of the client.")
    commands[1].add("--id", "-i", kind="Integer", required=True, about="The broker to take out.")
    commands[2].add("--include-fenced-brokers", action=STORE_TRUE, about="List brokers that are fenced, too.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
