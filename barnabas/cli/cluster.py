"""The cluster that the friendly commands speak to, and what to do when it refuses."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.wire.client import parse_address
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.tools.admin.session import Session
from core_broker.tools.java.java_failures import JavaFailure
from core_broker.tools.shell.exits import ToolError

CONNECT_TIMEOUT_MS: Final = 5_000
API_TIMEOUT_MS: Final = 15_000

Work = Callable[[Session, Namespace], Awaitable[int]]

_HINTS: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "`barnabas topics list` shows the topics there are; `barnabas topics create` makes one.",
    ErrorCode.UNKNOWN_TOPIC_ID: "`barnabas topics list` shows the topics there are.",
    ErrorCode.TOPIC_ALREADY_EXISTS: "Choose another name, or look at it with `barnabas topics describe`.",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "Names have up to 249 letters, digits, dots, underscores and dashes.",
    ErrorCode.INVALID_REPLICATION_FACTOR: "Leave out --replication-factor: the broker's default fits the number of brokers.",
    ErrorCode.GROUP_ID_NOT_FOUND: "`barnabas groups list` shows the groups there are.",
    ErrorCode.NON_EMPTY_GROUP: "Stop the consumers of the group first; `barnabas groups describe` names them.",
    ErrorCode.UNKNOWN_MEMBER_ID: "The group has members: stop its consumers first.",
    ErrorCode.INVALID_CONFIG: "`barnabas configs describe` shows names and values.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask whoever administers it.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask whoever administers it.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask whoever administers it.",
    ErrorCode.REQUEST_TIMED_OUT: "The broker takes too long: look at its log.",
}


def run(work: Work, arguments: Namespace) -> int:
    """Do the work against the cluster that the command line names."""
    return asyncio.run(_run(work, arguments))


async def _run(work: Work, arguments: Namespace) -> int:
    try:
        await check_reachable(arguments.bootstrap_server)
        extra = {"default.api.timeout.ms": str(API_TIMEOUT_MS)}
        async with Session.open(arguments.bootstrap_server, arguments.command_config, extra) as session:
            return await work(session, arguments)
    except KafkaError as error:
        raise explained(error) from None
    except (ToolError, JavaFailure) as error:
        raise CommandError(error.message) from None


async def check_reachable(bootstrap: str) -> None:
    """Fail at once where nobody listens, instead of trying for a minute as programs do."""
    reasons = []
    for address in [part.strip() for part in bootstrap.split(",") if part.strip()]:
        try:
            host, port = parse_address(address)
            async with asyncio.timeout(CONNECT_TIMEOUT_MS / 1000):
                _, writer = await asyncio.open_connection(host, port)
        except ValueError as error:
            raise CommandError(str(error), status=2) from None
        except OSError as error:
            reasons.append(f"cannot connect to {address}: {error.strerror or error}")
        else:
            writer.close()
            return
    raise CommandError(
        "; ".join(reasons) or "no broker is named",
        "Start one with `barnabas up`, or name another with --bootstrap-server HOST:PORT (or KAFKA_BOOTSTRAP_SERVERS).",
        EXIT_UNREACHABLE,
    )


def raise_for(failures: Sequence[tuple[str, KafkaError]]) -> None:
    """Say of each name what failed, once everything was tried; the advice is that for the first."""
    if failures:
        reasons = "; ".join([f"{name}: {error.message}" for name, error in failures])
        raise explained(KafkaError(failures[0][1].code, reasons))


def explained(error: KafkaError) -> CommandError:
    return CommandError(error.message, _HINTS.get(error.code, ""))
