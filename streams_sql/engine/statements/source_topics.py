"""The topics of sources: made where a statement asks for them, else looked at."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import BROKER_DEFAULT, TopicShape
from streams_sql.analysis.with_clause import TopicSettings, WithClause
from streams_sql.language.statements import CreateAsSelect, CreateSource
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class SourceTopics:
    """`replicas` is for topics whose statement does not say it; with BROKER_DEFAULT they have as many as what their query reads."""

    admin: Admin
    replicas: int

    async def provide(self, statement: CreateSource | CreateAsSelect, source: Source, reads: str | None) -> bool:
        """Create the topic of a new source unless it exists, and return whether it did. The topic of a query has as many partitions and
        replicas as the topic that it `reads`, unless the statement sets them. SqlProblem."""
        wanted = WithClause(statement.properties, is_source=isinstance(statement, CreateSource)).topic_settings
        found = await self.admin.layout(source.topic)
        if found is not None:
            _check(source.topic, wanted, found.replicas)
            return True
        read = () if reads is None else await self._replicas_of(reads)
        partitions = wanted.partitions or len(read)
        if not partitions:
            raise SqlProblem(
                f"Topic '{source.topic}' does not exist. If you want to create a new topic for the "
                f"{source.kind.value.lower()} please re-run the statement providing the required 'PARTITIONS' configuration "
                f"in the WITH clause (and optionally 'REPLICAS'). For example: CREATE {source.kind.value} {source.name} "
                f"WITH (KAFKA_TOPIC='{source.topic}', PARTITIONS=1)"
            )
        replicas = wanted.replicas or self._replicas_as(read)
        await self.admin.create_topic(TopicShape(source.topic, partitions, replicas, _configuration(source, wanted)))
        return False

    async def earlier_rows_warning(self, source: Source) -> tuple[str, ...]:
        """Warn of records in the topic of a source that a new query is about to write."""
        ranges = (await self.admin.ranges([source.topic])).get(source.topic, {})
        count = sum(end - start for start, end in ranges.values())
        if not count:
            return ()
        shown = " until the query writes rows with their keys" if source.is_table else ""
        kind = source.kind.value
        warning = (
            f"Topic {source.topic} already contains {count} records, which {source.name} shows{shown}. To start with an empty "
            f"{kind.lower()}, run DROP {kind} {source.name} DELETE TOPIC and create it again, or set another KAFKA_TOPIC in WITH."
        )
        return (warning,)

    async def provide_shadow(self, sink: Source, shadow: str) -> None:
        """A topic for the rows of a table that is being built, with as many partitions and replicas as the table's own. SqlProblem."""
        own = await self._replicas_of(sink.topic)
        if not own:
            raise SqlProblem(f"Topic '{sink.topic}' does not exist any more. Drop {sink.name} and create it anew.")
        shape = TopicShape(shadow, len(own), min(own), {"cleanup.policy": "compact"})
        await self.admin.create_topic(shape)

    async def names(self) -> list[str]:
        """Of all topics."""
        return list(await self.admin.topics())

    async def delete(self, topic: str) -> None:
        await self.admin.delete_topic(topic)

    async def _replicas_of(self, topic: str) -> tuple[int, ...]:
        """Of each of its partitions; none where there is no such topic."""
        layout = await self.admin.layout(topic)
        return () if layout is None else layout.replicas

    def _replicas_as(self, read: tuple[int, ...]) -> int:
        if self.replicas != BROKER_DEFAULT:
            return self.replicas
        return min(read, default=BROKER_DEFAULT)


def _check(topic: str, wanted: TopicSettings, replicas: tuple[int, ...]) -> None:
    for word, given, there in (
        ("partitions", wanted.partitions, len(replicas)),
        ("replication factor", wanted.replicas, min(replicas, default=0)),
    ):
        if given is not None and given != there:
            raise SqlProblem(
                f"A Kafka topic with the name '{topic}' already exists, with different partition/replica configuration than "
                f"required. KSQL expects {given} {word} (topic has {there}). Leave it out, or name another topic."
            )


def _configuration(source: Source, wanted: TopicSettings) -> dict[str, str]:
    """Tables keep the last value of each key. Windows go after their RETENTION where a query says one: brokers count it from the times of
    records, which may be long ago, so nothing goes without being asked for."""
    found: dict[str, str] = {}
    if source.is_table:
        found["cleanup.policy"] = "compact"
    if source.window is not None and source.window.retention_ms is not None:
        found |= {"cleanup.policy": "compact,delete", "retention.ms": str(source.window.retention_ms)}
    if wanted.cleanup_policy is not None:
        found["cleanup.policy"] = wanted.cleanup_policy
    if wanted.retention_ms is not None:
        found["retention.ms"] = str(wanted.retention_ms)
    return found
