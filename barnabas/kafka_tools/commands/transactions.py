"""kafka-transactions: lists and describes transactions, finds those that hang, and ends them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Final, NoReturn

from barnabas.client.admin import session as sessions
from barnabas.client.admin.group_admin import reach
from barnabas.client.admin.hanging_transactions import OpenTransaction, hanging, open_for_long
from barnabas.client.admin.session import Session
from barnabas.client.admin.transaction_admin import NONE, Abortion, TransactionAdmin
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.kafka_tools.shell.arguments import CALL, ArgumentParser, Values
from barnabas.kafka_tools.shell.exits import FAILURE, SUCCESS, ToolExit
from barnabas.kafka_tools.shell.options import show_version
from barnabas.kernel.java.kafka_exceptions import message_of
from barnabas.wire.errors import ErrorCode, KafkaError

MAX_TIMEOUT_MINUTES: Final = 15
BATCH_PARTITIONS: Final = 500
_FORCE: Final = "forceTerminateTransaction"


def main(arguments: Sequence[str]) -> int:
    values = _parser().parse(arguments)
    work = _COMMANDS[str(values["command"])]

    async def run() -> None:
        async with Session.open(values.text("bootstrap_server") or "", values.text("command_config")) as session:
            await work(values, session)

    sessions.run(run())
    return SUCCESS


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        "kafka-transactions.sh",
        "Shows the transactions of a cluster and the producers of its partitions, and ends transactions that hang.",
        help_status=FAILURE,
    )
    parser.add(
        "-v",
        "--version",
        about="show the version of Kafka that this tool is like and exit",
        action=CALL,
        calls=show_version,
    )
    parser.add("--command-config", about="properties file for the client", metavar="FILE")
    parser.add(
        "--bootstrap-server", about="brokers to begin with, separated by commas", metavar="host:port", required=True
    )
    parser.commands_metavar = "COMMAND"
    parser.commands_title = "commands"
    listing = parser.command("list", "list transactions")
    listing.add(
        "--duration-filter",
        about="only transactions that have run longer, in milliseconds; all if negative",
        kind="Long",
    )
    listing.add("--transactional-id-pattern", about="only transactional ids that match this regular expression")
    one = parser.command("describe", "describe the state of a transactional id")
    one.add("--transactional-id", about="transactional id", required=True)
    producers = parser.command("describe-producers", "describe the producers that a partition knows")
    producers.add("--broker-id", about="the replica to ask instead of the leader", kind="Integer")
    _add_partition(producers, required=True)
    abort = parser.command("abort", "abort a transaction that hangs (needs the right to alter the cluster)")
    _add_partition(abort, required=True)
    newer = abort.group("Brokers on versions 3.0 and above")
    abort.add("--start-offset", about="offset at which the transaction starts", kind="Long", group=newer)
    older = abort.group("Brokers on versions older than 3.0")
    abort.add("--producer-id", about="producer id", kind="Long", group=older)
    abort.add("--producer-epoch", about="producer epoch", kind="Integer", group=older)
    abort.add("--coordinator-epoch", about="coordinator epoch", kind="Integer", group=older)
    _add_endings(parser)
    return parser


def _add_endings(parser: ArgumentParser) -> None:
    find = parser.command("find-hanging", "find transactions that hang")
    find.add("--broker-id", about="broker whose partitions to search", kind="Integer")
    find.add(
        "--max-transaction-timeout",
        about="minutes after which a transaction may be taken for hanging (15 by default)",
        kind="Integer",
        default=MAX_TIMEOUT_MINUTES,
    )
    _add_partition(find, required=False)
    force = parser.command(_FORCE, "abort the transaction of a transactional id (needs the right to write to it)")
    force.add("--transactionalId", about="transactional id", required=True)


def _add_partition(parser: ArgumentParser, *, required: bool) -> None:
    parser.add("--topic", about="topic", required=required)
    parser.add("--partition", about="number of the partition", kind="Integer", required=required)


async def _list(values: Values, session: Session) -> None:
    duration_ms = values.integer("duration_filter")
    try:
        found = await TransactionAdmin(session).list(
            duration_ms=NONE if duration_ms is None else duration_ms, pattern=values.text("transactional_id_pattern")
        )
    except KafkaError as error:
        _fail("Failed to list transactions", error)
    rows = [[one.transactional_id, str(one.coordinator), str(one.producer_id), one.state] for one in found]
    _print_table(["TransactionalId", "Coordinator", "ProducerId", "TransactionState"], rows)


async def _describe(values: Values, session: Session) -> None:
    transactional_id = values.text("transactional_id") or ""
    try:
        one = await TransactionAdmin(session).describe(transactional_id)
    except KafkaError as error:
        _fail(f"Failed to describe transaction state of transactional-id `{transactional_id}`", error)
    start = duration = "None"
    if one.start_ms != NONE:
        start, duration = str(one.start_ms), str(_now_ms() - one.start_ms)
    partitions = ",".join(sorted(map(str, one.partitions)))
    heads = [
        "CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
        "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions",
    ]  # fmt: skip
    row = [
        str(one.coordinator), one.transactional_id, str(one.producer_id), str(one.producer_epoch), one.state,
        str(one.timeout_ms), start, duration, partitions,
    ]  # fmt: skip
    _print_table(heads, [row])


async def _describe_producers(values: Values, session: Session) -> None:
    partition, broker = _partition(values), values.integer("broker_id")
    try:
        if broker is not None:
            await _require_node(session, broker)
        known = (await TransactionAdmin(session).producers([partition], broker))[partition]
    except KafkaError as error:
        where = "leader" if broker is None else f"broker {broker}"
        _fail(f"Failed to describe producers for partition {partition} on {where}", error)
    heads = [
        "ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp",
        "CurrentTransactionStartOffset",
    ]  # fmt: skip
    rows = [
        [
            str(one.producer_id),
            str(one.producer_epoch),
            str(one.coordinator_epoch),
            str(one.last_sequence),
            str(one.last_timestamp_ms),
            "None" if one.start_offset == NONE else str(one.start_offset),
        ]
        for one in known
    ]
    _print_table(heads, rows)


async def _find_hanging(values: Values, session: Session) -> None:
    broker, topic, number = values.integer("broker_id"), values.text("topic"), values.integer("partition")
    if topic is None and broker is None:
        _stop("The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search")
    if number is not None and topic is None:
        _stop("The --partition argument requires --topic to be provided")
    if topic is not None and number is not None:
        partitions = [TopicPartition(topic, number)]
    else:
        partitions = await _partitions(session, topic, broker)
    limit_ms = (values.integer("max_transaction_timeout") or 0) * 60_000
    candidates: list[OpenTransaction] = []
    admin = TransactionAdmin(session)
    for start in range(0, len(partitions), BATCH_PARTITIONS):
        batch = partitions[start : start + BATCH_PARTITIONS]
        try:
            candidates += open_for_long(await admin.producers(batch, broker), _now_ms(), limit_ms)
        except KafkaError as error:
            where = "Optional.empty" if broker is None else f"Optional[{broker}]"
            _fail(f"Failed to describe producers for {len(batch)} partitions on broker {where}", error)
    _print_hanging(await _without_coordinator(admin, candidates) if candidates else [])


async def _without_coordinator(admin: TransactionAdmin, candidates: Sequence[OpenTransaction]) -> list[OpenTransaction]:
    producer_ids = {one.producer.producer_id for one in candidates}
    try:
        listed = await admin.list(producer_ids=producer_ids)
    except KafkaError as error:
        _fail(f"Failed to list transactions for {len(producer_ids)} producers", error)
    ids = {one.producer_id: one.transactional_id for one in listed if one.producer_id in producer_ids}
    described = {}
    for transactional_id in set(ids.values()):
        try:
            described[transactional_id] = await admin.describe(transactional_id)
        except KafkaError as error:
            if error.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                _fail(f"Failed to describe {len(ids)} transactions", error)
    return hanging(candidates, ids, described)


async def _partitions(session: Session, topic: str | None, broker: int | None) -> list[TopicPartition]:
    """The partitions of a topic or of all topics; with `broker` those that it has a replica of."""
    try:
        await reach(session, "listTopics" if topic is None else "listNodes")
        answer = await session.metadata(None if topic is None else [topic])
        for one in answer.topics:
            if one.error_code:
                raise KafkaError(ErrorCode(one.error_code))
    except KafkaError as error:
        _fail("Failed to list topics" if topic is None else "Failed to describe 1 topics", error)
    return sorted(
        TopicPartition(one.name or "", part.partition_index)
        for one in answer.topics
        for part in one.partitions
        if broker is None or broker in part.replica_nodes
    )


def _print_hanging(found: Sequence[OpenTransaction]) -> None:
    heads = [
        "Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp",
        "Duration(min)",
    ]  # fmt: skip
    now_ms = _now_ms()
    rows = [
        [
            one.partition.topic,
            str(one.partition.partition),
            str(one.producer.producer_id),
            str(one.producer.producer_epoch),
            str(one.producer.coordinator_epoch),
            str(one.producer.start_offset),
            str(one.producer.last_timestamp_ms),
            str(one.age_minutes(now_ms)),
        ]
        for one in found
    ]
    _print_table(heads, rows)


async def _abort(values: Values, session: Session) -> None:
    partition, start, producer_id = _partition(values), values.integer("start_offset"), values.integer("producer_id")
    admin = TransactionAdmin(session)
    if start is not None:
        abortion = await _found_abortion(admin, partition, start)
    elif producer_id is None:
        _stop(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) or "
            "with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    else:
        epochs = {name: values.integer(name) for name in ("producer_epoch", "coordinator_epoch")}
        for name, epoch in epochs.items():
            if epoch is None:
                _stop(f"Missing required argument --{name.replace('_', '-')}")
        # A log that has never seen a marker of the producer says -1; 0 is at most what any coordinator has.
        coordinator_epoch = max(epochs["coordinator_epoch"] or 0, 0)
        abortion = Abortion(partition, producer_id, epochs["producer_epoch"] or 0, coordinator_epoch)
    try:
        await admin.abort(abortion)
    except KafkaError as error:
        _fail(f"Failed to abort transaction {abortion}", error)


async def _found_abortion(admin: TransactionAdmin, partition: TopicPartition, start: int) -> Abortion:
    """The open transaction that begins at an offset."""
    try:
        known = (await admin.producers([partition]))[partition]
    except KafkaError as error:
        _fail(f"Failed to validate producer state for partition {partition}", error)
    found = [one for one in known if one.start_offset == start]
    if not found:
        _stop(f"Could not find any open transactions starting at offset {start} on partition {partition}")
    one = found[0]
    return Abortion(partition, one.producer_id, one.producer_epoch, max(one.coordinator_epoch, 0))


async def _force_terminate(values: Values, session: Session) -> None:
    transactional_id = values.text("transactionalId") or ""
    try:
        await TransactionAdmin(session).fence(transactional_id)
    except KafkaError as error:
        _fail(f"Failed to force terminate transactionalId `{transactional_id}`", error)


_COMMANDS: Final[dict[str, Callable[[Values, Session], Coroutine[object, object, None]]]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _describe_producers,
    "find-hanging": _find_hanging,
    "abort": _abort,
    _FORCE: _force_terminate,
}


async def _require_node(session: Session, broker: int) -> None:
    """A broker that is not there is waited for, as Java's client does."""

    async def attempt() -> None:
        if broker not in (await session.cluster()).nodes:
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)

    await session.retry(attempt, "describeProducers(api=DESCRIBE_PRODUCERS)")


def _partition(values: Values) -> TopicPartition:
    return TopicPartition(values.text("topic") or "", values.integer("partition") or 0)


def _now_ms() -> int:
    return int(time.time() * 1000)


def _stop(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise ToolExit(FAILURE)


def _fail(what: str, error: KafkaError) -> NoReturn:
    _stop(f"{what}: {message_of(error)}. Enable debug logging for additional detail.")


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell, each with a tab behind it."""
    widths = [max(len(row[at]) for row in [heads, *rows]) for at in range(len(heads))]
    for row in [heads, *rows]:
        print("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)))
