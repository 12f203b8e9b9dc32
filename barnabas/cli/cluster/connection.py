"""The cluster that the friendly commands speak to, and what to do when it refuses."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from barnabas.cli.command_error import EXIT_UNREACHABLE, CommandError
from barnabas.cli.service_address import restart_hint
from barnabas.client.admin.session import Session
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.java_exceptions import JavaFailure
from barnabas.wire.client import DEFAULT_CLIENT_ID, parse_address
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.frames import LENGTH_PREFIX_BYTES, encode_request, foreign_protocol
from barnabas.wire.messages.api_versions import ApiVersionsRequest

CONNECT_TIMEOUT_MS: Final = 5_000
"""Until a program at the address has answered."""
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
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask its administrator.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask its administrator.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "The broker's ACLs do not allow it; ask its administrator.",
    ErrorCode.REQUEST_TIMED_OUT: "The broker takes too long: look at its log.",
    ErrorCode.KAFKA_STORAGE_ERROR: "The broker cannot write to its disk: `barnabas status` shows its log directory and the free space.",
}
_ELSEWHERE: Final[Mapping[str, str]] = {
    "HTTP": "--bootstrap-server takes the broker's own port, by default 9092; the registry, the REST proxy, Connect and SQL have others.",
    "TLS": "The commands speak PLAINTEXT alone: name a listener of that kind with --bootstrap-server HOST:PORT.",
}
"""What to do where another program listens."""
_START_HINT: Final = (
    "Start one with `barnabas up`, or name another with --bootstrap-server HOST:PORT (or KAFKA_BOOTSTRAP_SERVERS)."
)


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
    except (ClientError, JavaFailure) as error:
        raise CommandError(error.message) from None


async def check_reachable(bootstrap: str) -> None:
    """Fail at once where no broker answers, instead of trying for a minute as programs do."""
    reasons = []
    hint = _START_HINT
    for address in [part.strip() for part in bootstrap.split(",") if part.strip()]:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_MS / 1000):
                protocol = await _foreign_protocol(*parse_address(address))
        except ValueError as error:
            raise CommandError(str(error), status=2) from None
        except TimeoutError:
            reasons.append(f"no Kafka broker answers at {address} within {CONNECT_TIMEOUT_MS / 1000:g} s")
        except OSError as error:
            reasons.append(f"cannot connect to {address}: {error.strerror or error}")
        else:
            if protocol is None:
                return
            reasons.append(f"what answers at {address} is no Kafka broker: it speaks {protocol}")
            hint = _ELSEWHERE.get(protocol, hint)
    if hint == _START_HINT:
        hint = restart_hint(bootstrap) or hint
    raise CommandError("; ".join(reasons) or "no broker is named", hint, EXIT_UNREACHABLE)


async def _foreign_protocol(host: str, port: int) -> str | None:
    """What is spoken there, if it is not Kafka's protocol. One who hangs up at once may be a broker all the same."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(encode_request(ApiVersionsRequest(), ApiVersionsRequest.VERSIONS.low, 0, DEFAULT_CLIENT_ID))
        return foreign_protocol(await reader.read(LENGTH_PREFIX_BYTES))
    except ConnectionError:
        return None
    finally:
        writer.close()


def raise_for(failures: Sequence[tuple[str, KafkaError]]) -> None:
    """Say of each name what failed, once everything was tried; the advice is that for the first."""
    if failures:
        reasons = "; ".join([f"{name}: {error.message}" for name, error in failures])
        raise explained(KafkaError(failures[0][1].code, reasons))


def explained(error: KafkaError) -> CommandError:
    return CommandError(error.message, _HINTS.get(error.code, ""))
