"""The topics of sources: made where a statement asks for them, else looked at."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.kernel.kafka_clients.admin import Admin, TopicShape
from streams_sql.analysis.with_clause import TopicSettings, WithClause
from streams_sql.language.problem import SqlProblem
from streams_sql.language.statements import CreateAsSelect, CreateSource
from streams_sql.sources import Source


@dataclass(frozen=True, slots=True)
class SourceTopics:
    """`replicas` is for topics whose statement does not say it."""

    admin: Admin
    replicas: int

    async def provide(self, statement: CreateSource | CreateAsSelect, source: Source, reads: str | None) -> None:
        """See that the topic of a new source is there. That of a query has as many partitions as the topic that it `reads`, unless it
        says otherwise. SqlProblem."""
        wanted = WithClause(statement.properties, is_source=isinstance(statement, CreateSource)).topic_settings
        found = await self.admin.layout(source.topic)
        if found is not None:
            _check(source.topic, wanted, found.replicas)
            return
        partitions = wanted.partitions
        if partitions is None and reads is not None:
            partitions = await self.admin.partition_count(reads)
        if partitions is None:
            raise SqlProblem(
                f"Topic '{source.topic}' does not exist. If you want to create a new topic for the "
                f"{source.kind.value.lower()} please re-run the statement providing the required 'PARTITIONS' configuration "
                f"in the WITH clause (and optionally 'REPLICAS'). For example: CREATE {source.kind.value} {source.name} "
                f"WITH (KAFKA_TOPIC='{source.topic}', PARTITIONS=1)"
            )
        await self._create(source, partitions, wanted)

    async def provide_shadow(self, sink: Source, shadow: str) -> None:
        """A topic for the rows of a table that is being built, with as many partitions as the table's own. SqlProblem."""
        partitions = await self.admin.partition_count(sink.topic)
        if partitions is None:
            raise SqlProblem(f"Topic '{sink.topic}' does not exist any more. Drop {sink.name} and create it anew.")
        await self.admin.create_topic(TopicShape(shadow, partitions, self.replicas, {"cleanup.policy": "compact"}))

    async def names(self) -> list[str]:
        """Of all topics."""
        return list(await self.admin.topics())

    async def delete(self, topic: str) -> None:
        await self.admin.delete_topic(topic)

    async def _create(self, source: Source, partitions: int, wanted: TopicSettings) -> None:
        shape = TopicShape(source.topic, partitions, wanted.replicas or self.replicas, _configuration(source, wanted))
        await self.admin.create_topic(shape)


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
