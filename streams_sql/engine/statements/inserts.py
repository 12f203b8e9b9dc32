"""Records that clients write: INSERT INTO … VALUES, and streams of rows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.analysis.catalogue_view import CatalogueView, source_hint
from streams_sql.engine.failures import EngineError, Unavailable
from streams_sql.engine.statements.json_rows import JsonRows
from streams_sql.evaluation.compiler import compile_expression
from streams_sql.formats.library import encoder_of
from streams_sql.formats.serde import Encode, Layout, RegistryAccess, Values
from streams_sql.plan.nodes import DeletePlan, InsertPlan, InsertRow
from streams_sql.problem import SqlProblem
from streams_sql.sources import ROWTIME, Column, FormatUse, Source
from streams_sql.sql_types import BIGINT
from streams_sql.typed import Typed
from streams_sql.written_time import written_time

_TOPIC_GONE: Final = frozenset(
    {KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART}
)
POLL_S: Final = 0.1
MS_PER_S: Final = 1000
DELIVERY_TIMEOUT_MS: Final = 30_000

_DURABLE: Final = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
    # As Java's clients choose by the key, and as queries write.
    "partitioner": "murmur2_random",
}


class NewRecord(NamedTuple):
    """`timestamp` is None for now."""

    key: Values
    value: Values
    timestamp: int | None


class EncodedRecord(NamedTuple):
    key: bytes | None
    value: bytes | None


def insert_target(catalogue: CatalogueView, name: str) -> Source:
    """Return the source that a client streams rows into. Names are upper case unless they are quoted. SqlProblem."""
    wanted = name[1:-1] if name[:1] == name[-1:] == "`" else name.upper()
    found = catalogue.source(wanted)
    if found is None:
        raise SqlProblem(
            f"Cannot insert values into an unknown stream/table: `{wanted}`{source_hint(catalogue, wanted)}"
        )
    if found.is_read_only or found.key_window is not None:
        raise SqlProblem(f"Cannot insert values into {wanted}, which is read-only or windowed.")
    return found


class RecordEncoder:
    """Writes records of one source as bytes. Used by one thread at a time: formats of the registry may have to ask for a schema."""

    def __init__(self, target: Source, registry: RegistryAccess | None) -> None:
        schema = target.schema
        self._target = target
        self._key = _Part("key", target.key_format, schema.key, target.topic, registry)
        self._value = _Part("value", target.value_format, schema.value, target.topic, registry)

    def deleting(self, key: Values) -> EncodedRecord:
        """The record that deletes the row of a key. SqlProblem."""
        self._missing(key)
        return EncodedRecord(self._key.encoded(key), None)

    def _missing(self, key: Values) -> list[str]:
        missing = [column.name for column, value in zip(self._target.schema.key, key, strict=True) if value is None]
        if missing and self._target.is_table:
            raise SqlProblem(
                f"Value for primary key column(s) {', '.join(missing)} is required for tables, and NULL is none."
            )
        return missing

    def encoded(self, record: NewRecord) -> EncodedRecord:
        """SqlProblem."""
        nothing = len(self._missing(record.key)) == len(record.key)
        return EncodedRecord(None if nothing else self._key.encoded(record.key), self._value.encoded(record.value))


class _Part:
    """The key or the value."""

    def __init__(
        self, name: str, use: FormatUse, columns: tuple[Column, ...], topic: str, registry: RegistryAccess | None
    ) -> None:
        self._name = name
        self._format = use.name
        self._layout = Layout(use, columns, topic, name == "key", registry)
        self._encode: Encode | None = None

    def encoded(self, values: Values) -> bytes | None:
        try:
            if self._encode is None:
                self._encode = encoder_of(self._layout)
            (raw,) = self._encode([values])
        except RegistryClientError as problem:
            raise Unavailable(f"The schema registry does not help with the {self._name}: {problem}") from None
        except (ValueError, TypeError, OverflowError) as problem:
            raise SqlProblem(f"The {self._name} cannot be written as {self._format}: {problem}") from None
        return raw


class Inserts:
    """One producer for all clients. Reports of deliveries come on a thread of its own."""

    def __init__(self, settings: Mapping[str, Any], registry: RegistryAccess | None) -> None:
        self.registry = registry
        self._settings = {**settings, **_DURABLE}
        self._producer: Producer | None = None
        self._is_stopping = threading.Event()
        self._loop = asyncio.get_running_loop()

    async def insert(self, plan: InsertPlan) -> None:
        """Returns when the records are in the topic; none is sent unless all of them can be. SqlProblem, Unavailable."""
        target = plan.target
        records = [new_record(target, row) for row in plan.rows]
        encoded = await asyncio.to_thread(self._encoded, target, records)
        sent = [self.send(target.topic, each, record.timestamp) for each, record in zip(encoded, records, strict=True)]
        for each in sent:
            await each

    def _encoded(self, target: Source, records: Sequence[NewRecord]) -> list[EncodedRecord]:
        encoder = RecordEncoder(target, self.registry)
        return [encoder.encoded(record) for record in records]

    async def delete(self, plan: DeletePlan) -> None:
        """Returns when the records that delete the rows are in the topic. SqlProblem, Unavailable."""
        keys = deleted_keys(plan)
        encoder = RecordEncoder(plan.target, self.registry)
        # None is sent unless all can be.
        records = await asyncio.to_thread(lambda: list(map(encoder.deleting, keys)))
        await asyncio.gather(*(self.send(plan.target.topic, record, None) for record in records))

    def send(self, topic: str, record: EncodedRecord, timestamp: int | None) -> asyncio.Future[None]:
        """Done when the record is in the topic; it fails with Unavailable. Records that were sent first are there first."""
        delivered = _promised(self._loop)

        def report(error: KafkaError | None, _message: Message) -> None:
            self._loop.call_soon_threadsafe(_settle, delivered, topic, error)

        at = int(time.time() * MS_PER_S) if timestamp is None else written_time(timestamp)
        try:
            self._running().produce(topic, record.value, record.key, timestamp=at, on_delivery=report)
        except (KafkaException, BufferError) as problem:
            delivered.set_exception(Unavailable(f"The record cannot be written to {topic}: {problem}"))
        return delivered

    async def stop(self) -> None:
        self._is_stopping.set()
        if self._producer is not None:
            await asyncio.to_thread(self._producer.flush, DELIVERY_TIMEOUT_MS / MS_PER_S)

    def _running(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(self._settings)
            threading.Thread(target=self._poll, args=(self._producer,), name="insert reports", daemon=True).start()
        return self._producer

    def _poll(self, producer: Producer) -> None:
        while not self._is_stopping.is_set():
            producer.poll(POLL_S)


def new_record(target: Source, row: InsertRow) -> NewRecord:
    """SqlProblem."""
    schema = target.schema
    key = tuple(worked_out(column.name, each) for column, each in zip(schema.key, row.key, strict=True))
    value = tuple(worked_out(column.name, each) for column, each in zip(schema.value, row.value, strict=True))
    return NewRecord(key, value, None if row.rowtime is None else worked_out(ROWTIME, row.rowtime))


def worked_out(column: str, expression: Typed) -> Any:
    """The value of an expression without columns. SqlProblem."""
    try:
        return compile_expression(expression, ())(())
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong is what the statement asks for
        reason = str(problem) or type(problem).__name__
        raise SqlProblem(f"The value for {column} cannot be worked out: {reason}.") from None


def deleted_keys(plan: DeletePlan) -> list[Values]:
    return [tuple(compile_expression(each, ())(()) for each in key) for key in plan.keys]


def _promised(loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
    """A future whose failure may go unread: clients leave."""
    promised: asyncio.Future[None] = loop.create_future()
    promised.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    return promised


def _settle(delivered: asyncio.Future[None], topic: str, error: KafkaError | None) -> None:
    if delivered.done():
        return
    if error is None:
        delivered.set_result(None)
    elif error.code() in _TOPIC_GONE:
        delivered.set_exception(
            Unavailable(
                f"The record cannot be written: topic {topic} is not there any more, or not as it was. Create it again, or drop what stands "
                "on it and create that anew."
            )
        )
    else:
        delivered.set_exception(Unavailable(f"The record cannot be written to {topic}: {error.str()}"))


class Inserter:
    """Rows of one client for one source, as objects with its columns."""

    def __init__(self, target: Source, inserts: Inserts) -> None:
        schema = target.schema
        self._topic = target.topic
        self._inserts = inserts
        self._keys = len(schema.key)
        self._rows = JsonRows(target.name, (*schema.key, *schema.value, Column(ROWTIME, BIGINT)))
        self._encoder = RecordEncoder(target, inserts.registry)

    async def insert(self, rows: Sequence[Mapping[str, Any]]) -> list[asyncio.Future[None]]:
        """Sends rows, in order. The future of each is done when the row is in the topic; it fails with SqlProblem for one that does not
        fit, and with Unavailable. To be called again when it has returned."""
        return [self._sent(each) for each in await asyncio.to_thread(self._encoded, rows)]

    def _encoded(self, rows: Sequence[Mapping[str, Any]]) -> list[tuple[EncodedRecord, int | None] | Exception]:
        found: list[tuple[EncodedRecord, int | None] | Exception] = []
        for row in rows:
            try:
                *values, timestamp = self._rows.row(row)
                record = NewRecord(tuple(values[: self._keys]), tuple(values[self._keys :]), timestamp)
                found.append((self._encoder.encoded(record), timestamp))
            except (SqlProblem, EngineError) as problem:
                found.append(problem)
        return found

    def _sent(self, encoded: tuple[EncodedRecord, int | None] | Exception) -> asyncio.Future[None]:
        if not isinstance(encoded, Exception):
            record, timestamp = encoded
            return self._inserts.send(self._topic, record, timestamp)
        failed = _promised(asyncio.get_running_loop())
        failed.set_exception(encoded)
        return failed
