"""The one producer that all requests share, and the way of its delivery reports back to the event loop.

What requests send is handed to librdkafka together: at the end of a turn of the loop, or, while a few batches are under way already, when one of
them is done, a millisecond later at most. Each call may have to wake librdkafka's thread, and each answer of the broker ours. librdkafka reports each record to a callback on the thread that polls. The callback only writes the result into its batch; after each
poll the batches that are complete are resolved on the loop together, in one call. A record costs no future and no hop of its own.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.repeated_lines import RepeatedLines
from rest_proxy.kafka.topic_finder import CREATES, TopicFinder, is_unknown

POLL_S: Final = 0.1
"""The longest wait for reports; when one comes the poll returns at once."""
BUSY_BATCHES: Final = 4
"""While more batches than these are under way, records and reports are collected. Fewer are never kept waiting."""
HOLD_S: Final = 0.001
HELD_MAX_RECORDS: Final = 1_000
"""Records are collected until a batch is done, for so long, and so many."""
PAUSE_S: Final = 0.0005
"""Reports are collected for so long: each time they take the interpreter from the loop."""
STOP_DEADLINE_S: Final = 10.0
SPACE_RETRY_S: Final = 0.002
"""How soon a record is tried again when librdkafka's queue is full."""
LATE_S: Final = 0.25
"""The topics of records that are under way for longer, up to twice as long, are looked for: they may have been deleted."""

ANY_PARTITION: Final = -1
NOT_SENT: Final = KafkaFailure(KafkaError._FAIL, "_FAIL", "the record was not sent", retriable=False)
"""Stands for a result until there is one."""

logger = logging.getLogger(__name__)
logger.addFilter(RepeatedLines())


class OutgoingRecord(NamedTuple):
    """A record as it goes out. No partition: the key decides, or chance. No timestamp: now.

    A tuple, since one is made for every record, and that in half the time of a frozen dataclass.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int = ANY_PARTITION
    headers: Sequence[tuple[str, bytes | None]] = ()
    timestamp_ms: int | None = None


Delivered: TypeAlias = tuple[int, int, int | None]
"""Where a record lies now: its partition, its offset, and its timestamp in milliseconds. A plain tuple, since one is made for every record."""
Report: TypeAlias = Callable[[KafkaError | None, Message | None], None]


class Batch:
    """Records that were sent together. `results` has a place for each, in order; `done` is resolved when all are filled."""

    __slots__ = ("_completed", "_filled", "_records", "done", "results")

    def __init__(self, records: Sequence[OutgoingRecord], done: asyncio.Future[None], completed: deque[Batch]) -> None:
        self.results: list[Delivered | KafkaFailure] = [NOT_SENT] * len(records)
        self._records = records
        self.done = done
        self._filled = count(1)
        self._completed = completed

    def reporter(self, index: int) -> Report:
        """What librdkafka is to call with the result. Records that it does not even take are reported on the loop, others on the thread
        that polls: taking a number from the count is one step, and only one of them is given the last."""

        def report(error: KafkaError | None, message: Message | None) -> None:
            if error is None and message is not None:
                kind, timestamp_ms = message.timestamp()
                place = message.partition() or 0, message.offset() or 0, timestamp_ms if kind else None
                self.results[index] = place
            elif error is not None:
                self.results[index] = KafkaFailure.of(error)
            if next(self._filled) == len(self.results):
                self._completed.append(self)

        return report

    def topics_under_way(self) -> set[str]:
        """The topics of the records that there is no result of yet."""
        unsent = zip(self._records, self.results, strict=True)
        return {record.topic for record, result in unsent if result is NOT_SENT}

    def give_up(self, error: KafkaError) -> None:
        """Fill the places that are left. A report that comes all the same counts, as long as nobody has read the results."""
        failure = KafkaFailure.of(error)
        for index, result in enumerate(self.results):
            if result is NOT_SENT:
                self.results[index] = failure
        self._completed.append(self)


@dataclass(slots=True)
class _Run:
    """Records that can be handed over together: to one partition of a topic, or to any."""

    topic: str
    partition: int
    messages: list[dict[str, Any]]
    apart: bool
    """Whether it is one record with headers or a time of its own, and no other can join it."""
    looked_up: bool = False
    """Whether the cluster was asked for the topic or the partition, of which librdkafka had not heard."""


class SharedProducer:
    """Sends records of any number of requests. Everything but the polling happens on the event loop."""

    def __init__(self, settings: Mapping[str, Any], troubled: Callable[[str], None]) -> None:
        self.records_taken = 0
        """`troubled` is told, on the loop, when there may be no broker any more."""
        self._troubled = troubled
        self._trouble = ""
        self._producer = Producer({**settings, CREATES: False, "error_cb": self._note}, logger=logger)
        self._topics = TopicFinder(self._producer, settings)
        self._heard: set[str] = set()
        """Topics that were there when they were last asked for."""
        self._loop = asyncio.get_running_loop()
        self._outbox: deque[_Run] = deque()
        self._space = asyncio.Event()
        self._space.set()
        self._completed: deque[Batch] = deque()
        self._unheard: dict[str, list[_Run]] = {}
        self._looking_up: set[asyncio.Task[None]] = set()
        self._under_way: set[Batch] = set()
        self._under_way_before: set[Batch] = set()
        """Those that were under way when it was last looked for late ones."""
        self._late_look: asyncio.TimerHandle | asyncio.Task[None] | None = None
        """The next look for them, or the one that goes on."""
        self._held_records = 0
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="delivery reports", daemon=True)
        self._thread.start()

    async def send(self, records: Sequence[OutgoingRecord]) -> list[Delivered | KafkaFailure]:
        """Send records and return what became of each, in order, when all have been acknowledged or given up."""
        batch = await self.begin(records)
        await batch.done
        return batch.results

    async def begin(self, records: Sequence[OutgoingRecord]) -> Batch:
        """Send records and return before they are acknowledged; waits while librdkafka's queue is full."""
        while not self._space.is_set():
            await self._space.wait()
        batch = Batch(records, self._loop.create_future(), self._completed)
        if not records:
            batch.done.set_result(None)
            return batch
        self._under_way.add(batch)
        if self._late_look is None:
            self._late_look = self._loop.call_later(LATE_S, self._look_for_late)
        self.records_taken += len(records)
        if not self._outbox:
            self._plan()
        self._put(records, batch)
        self._held_records += len(records)
        if self._held_records >= HELD_MAX_RECORDS:
            self._hand_over()
        return batch

    def forget(self, topic: str) -> None:
        """The topic was deleted: whoever writes to it again may make a new one."""
        self._heard.discard(topic)

    async def stop(self) -> None:
        """Let what is under way finish, within bounds, and end the thread."""
        if self._late_look is not None:
            self._late_look.cancel()
        if not self._under_way:
            # Records that were given up may be left, for which nobody waits.
            self._producer.purge()
        await asyncio.to_thread(self._producer.flush, STOP_DEADLINE_S)
        self._stopping.set()
        await asyncio.to_thread(self._thread.join, STOP_DEADLINE_S)

    def _plan(self) -> None:
        """Says when the outbox is emptied, at the latest."""
        if len(self._under_way) <= BUSY_BATCHES:
            self._loop.call_soon(self._empty_outbox)
        elif self._timer is None:
            self._timer = self._loop.call_later(HOLD_S, self._end_hold)

    def _end_hold(self) -> None:
        self._timer = None
        self._empty_outbox()

    def _empty_outbox(self) -> None:
        """Unless there is no space: then that is tried again by itself."""
        if self._outbox and self._space.is_set():
            self._hand_over()

    def _put(self, records: Sequence[OutgoingRecord], batch: Batch) -> None:
        """Behind what is waiting already; neighbours that can go together do."""
        run = self._outbox[-1] if self._outbox else None
        for index, (topic, key, value, partition, headers, timestamp_ms) in enumerate(records):
            message: dict[str, Any] = {"value": value, "key": key, "callback": batch.reporter(index)}
            apart = bool(headers) or timestamp_ms is not None
            if apart:
                message |= {"headers": list(headers), "timestamp": timestamp_ms or 0}
            if run is None or apart or run.apart or run.partition != partition or run.topic != topic:
                run = _Run(topic, partition, [message], apart)
                self._outbox.append(run)
            else:
                run.messages.append(message)

    def _hand_over(self) -> None:
        """Everything that was sent since the last time, in order. What finds no space is tried again, and everybody else waits."""
        self._held_records = 0
        while self._outbox:
            run = self._outbox[0]
            run.messages = self._produce(run)
            if run.messages:
                self._space.clear()
                self._loop.call_later(SPACE_RETRY_S, self._hand_over)
                break
            self._outbox.popleft()
        else:
            self._space.set()
        self._resolve()

    def _produce(self, run: _Run) -> list[dict[str, Any]]:
        """Returns what found no space. A batch takes two thirds of the time of single records."""
        messages = run.messages
        if self._unheard and run.topic in self._unheard:
            # Behind those that wait for the same topic, so that the order stays.
            self._unheard[run.topic].append(replace(run))
            return []
        if run.topic not in self._heard and not run.looked_up:
            return self._look_up(run, messages)
        try:
            if run.apart:
                self._producer.produce(run.topic, partition=run.partition, **messages[0])
                return []
            if self._producer.produce_batch(run.topic, messages, run.partition) == len(messages):
                return []
        except BufferError:
            return messages
        except KafkaException as problem:
            if _is_unheard(problem.args[0]) and not run.looked_up:
                return self._look_up(run, messages)
            return _refuse(messages, problem.args[0])
        except Exception as problem:
            # Whatever it is, it must not keep the records of others waiting.
            logger.exception("records for %s could not be sent", run.topic)
            return _refuse(messages, KafkaError(KafkaError._FAIL, str(problem)))
        if not run.looked_up and all(_is_unheard(message.get("_error")) for message in messages):
            return self._look_up(run, messages)
        return _left(messages)

    def _look_up(self, run: _Run, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Topics and partitions may have come since librdkafka last asked, minutes ago: no record is refused before it has asked again."""
        for message in messages:
            message.pop("_error", None)
        self._unheard[run.topic] = [replace(run)]
        looking_up = asyncio.ensure_future(self._ask_for(run.topic))
        self._looking_up.add(looking_up)
        looking_up.add_done_callback(self._looking_up.discard)
        return []

    async def _ask_for(self, topic: str) -> None:
        problem: KafkaError | None = None
        try:
            problem = await asyncio.to_thread(self._topics.find, topic)
            if problem is None:
                self._heard.add(topic)
        except KafkaException as refusal:
            logger.warning("the partitions of %s could not be asked for: %s", topic, refusal.args[0].str())
        finally:
            runs = self._unheard.pop(topic)
            if problem is not None and is_unknown(problem):
                # librdkafka would wait for the topic as long as for a broker.
                self._heard.discard(topic)
                for run in runs:
                    _refuse(run.messages, problem)
                self._resolve()
            else:
                if not self._outbox:
                    self._loop.call_soon(self._empty_outbox)
                # Before what was sent since the last handing over, so that the order stays.
                self._outbox.extendleft([replace(run, looked_up=True) for run in reversed(runs)])

    def _look_for_late(self) -> None:
        late = self._under_way & self._under_way_before
        self._under_way_before = set(self._under_way)
        if late:
            self._late_look = asyncio.ensure_future(self._look_after(late))
            self._late_look.add_done_callback(self._plan_late_look)
        else:
            self._plan_late_look()

    def _plan_late_look(self, _done: object = None) -> None:
        self._late_look = self._loop.call_later(LATE_S, self._look_for_late) if self._under_way else None

    async def _look_after(self, late: set[Batch]) -> None:
        """librdkafka waits for a topic that it knows and that was deleted; it is made again by being looked for, or the records for it
        are given up."""
        topics = set().union(*[batch.topics_under_way() for batch in late]) - self._unheard.keys()
        for topic in topics:
            try:
                problem = await asyncio.to_thread(self._topics.find, topic)
            except KafkaException:
                # There is no broker: that is told elsewhere, and the others cannot be found either.
                return
            if problem is not None and is_unknown(problem):
                self._heard.discard(topic)
                for batch in late:
                    if batch.topics_under_way() == {topic}:
                        batch.give_up(problem)
        self._resolve()

    def _note(self, error: KafkaError) -> None:
        """On the thread that polls. What is wrong comes first, and then that it is so with all brokers."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._trouble = error.str()
        else:
            self._loop.call_soon_threadsafe(self._troubled, self._trouble or error.str())

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._producer.poll(POLL_S)
            if self._completed:
                self._loop.call_soon_threadsafe(self._resolve)
            if len(self._under_way) > BUSY_BATCHES:
                time.sleep(PAUSE_S)

    def _resolve(self) -> None:
        """Lets those go on whose batches are complete."""
        completed = self._completed
        while completed:
            batch = completed.popleft()
            self._under_way.discard(batch)
            if not batch.done.done():
                batch.done.set_result(None)
        self._empty_outbox()


def _is_unheard(error: KafkaError | None) -> bool:
    return error is not None and error.code() in (KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC)


def _refuse(messages: Sequence[dict[str, Any]], error: KafkaError) -> list[dict[str, Any]]:
    """Reports records that librdkafka does not take at all; none of them is left."""
    for message in messages:
        message["callback"](error, None)
    return []


def _left(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of a batch that found no space; those that have other errors are reported."""
    left = []
    for message in messages:
        error = message.pop("_error", None)
        if error is None:
            continue
        if error.code() == KafkaError._QUEUE_FULL:
            left.append(message)
        else:
            message["callback"](error, None)
    return left
