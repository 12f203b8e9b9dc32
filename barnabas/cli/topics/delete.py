"""`barnabas topics delete`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection
from barnabas.cli.command_parser import add_report_form
from barnabas.cli.confirmation import confirm
from barnabas.client.admin.session import Session
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_report_form(parser)
    parser.add_argument("topics", nargs="+", metavar="TOPIC", help="their names")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")


def run(arguments: Namespace) -> int:
    return connection.run(_delete, arguments)


async def _delete(session: Session, arguments: Namespace) -> int:
    names = list(dict.fromkeys(arguments.topics))
    if not arguments.yes:
        confirm(f"delete {', '.join(names)} with all records?")
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names],
        topic_names=names,
        timeout_ms=session.config.request_timeout_ms,
    )
    failures, deleted = [], []
    for result in (await session.send_to_controller(request, DeleteTopicsResponse)).responses:
        if result.error_code:
            failures.append((f"topic {result.name}", error_of(result.error_code, result.error_message)))
        else:
            deleted.append(result.name)
    results = [{"topic": name, "result": "deleted"} for name in deleted]
    output.report(arguments.output, results, *[f"deleted topic {name}" for name in deleted])
    connection.raise_for(failures)
    return 0
