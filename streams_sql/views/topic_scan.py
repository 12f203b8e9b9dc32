"""Pull queries over streams: the records that a topic has when the query begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from streams_sql.analysis.relation import read
from streams_sql.analysis.scope import NamedSource
from streams_sql.evaluation.compiler import compile_column
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.problem import SqlProblem
from streams_sql.plan.nodes import PullPlan
from streams_sql.plan.records import Problem
from streams_sql.views.pages import PAGE_ROWS, Account, ResultRow
from streams_sql.views.pull import computed, note_error
from streams_sql.views.tailing import POLL_S, consumer_settings, record_reader, records_of
from streams_sql.views.topic_watch import described

ANSWER_S: Final = 10.0


class TopicScan:
    """Records that cannot be decoded are passed over, and counted in `problems`."""

    def __init__(
        self, plan: PullPlan, settings: Mapping[str, Any], registry: RegistryAccess | None, account: Account
    ) -> None:
        reading = read(NamedSource(plan.source.name, plan.source), "")
        names = [column.name for column in reading.shape.columns]
        self.problems = 0
        self._topic = plan.source.topic
        self._source = plan.source
        self._settings = dict(settings)
        self._account = account
        self._left = plan.limit
        self._reader = record_reader(reading, registry, self._pass_over)
        self._condition = None if plan.condition is None else compile_column(plan.condition, names, note_error)
        self._compute = [compile_column(named.expression, names, note_error) for named in plan.columns]
        self._consumer: Consumer | None = None
        self._ends: dict[int, int] = {}
        """Of the partitions that have not been read so far."""
        self._is_interrupted = False

    def page(self) -> list[ResultRow] | None:
        if self._left == 0 or self._is_interrupted:
            return None
        self._account.begin()
        if self._consumer is None:
            self._consumer = self._opened()
        if not self._ends:
            return None
        messages = self._messages(self._consumer)
        rows = self._rows(messages) if messages else []
        self._account.end(len(messages))
        return rows

    def _opened(self) -> Consumer:
        topic = described(self._settings, self._topic)
        if topic is None:
            raise SqlProblem(f"There is no topic {self._topic}, which {self._source.name} reads.")
        consumer = Consumer(consumer_settings(self._settings, self._topic))
        places = [TopicPartition(self._topic, partition, OFFSET_BEGINNING) for partition in range(topic.partitions)]
        try:
            for place in places:
                first, end = consumer.get_watermark_offsets(place, ANSWER_S)
                if end > first:
                    self._ends[place.partition] = end
            consumer.assign([place for place in places if place.partition in self._ends])
        except KafkaException as error:
            consumer.close()
            raise SqlProblem(f"Topic {self._topic} cannot be read: {error.args[0].str()}") from None
        return consumer

    def _messages(self, consumer: Consumer) -> list[Message]:
        first = consumer.poll(POLL_S)
        if first is None:
            return []
        messages = []
        for message in (first, *consumer.consume(PAGE_ROWS - 1, 0)):
            error = message.error()
            if error is None and self._is_wanted(message):
                messages.append(message)
            elif error is not None and error.code() == KafkaError._PARTITION_EOF:
                self._ends.pop(message.partition() or 0, None)
        return messages

    def _is_wanted(self, message: Any) -> bool:
        """Whether it was there when the query began. The last one of a partition ends it."""
        partition, offset = message.partition(), message.offset()
        end = self._ends.get(partition)
        if end is None:
            return False
        if offset >= end - 1:
            del self._ends[partition]
        return bool(offset < end)

    def _rows(self, messages: list[Message]) -> list[ResultRow]:
        rows = [row for row in self._reader.rows(records_of(messages, self._source)) if not row[-1][0]]
        if self._condition is not None:
            rows = [row for row in rows if self._condition(row)]
        if self._left is not None:
            rows = rows[: self._left]
            self._left -= len(rows)
        return computed(rows, self._compute)

    def _pass_over(self, problem: Problem) -> None:
        self.problems += 1

    def interrupt(self) -> None:
        self._is_interrupted = True

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
