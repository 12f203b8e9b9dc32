"""Jobs of Spark's whose rows go to clients: push queries with state. Their rows come through topics of their own."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.kernel.kafka_log.failures import StoreFailure
from streams_sql.analysis.relation import read
from streams_sql.analysis.scope import NamedSource
from streams_sql.engine.failures import Unavailable
from streams_sql.engine.queries.persistent_queries import SparkDriver
from streams_sql.engine.queries.query_settings import SPARK_PREFIX, QuerySettings, starting_offsets
from streams_sql.engine.queries.scheduling import ends_now
from streams_sql.formats.serde import RegistryAccess
from streams_sql.language.statements import Kind
from streams_sql.plan.nodes import PersistentPlan, PushPlan
from streams_sql.sources import FormatUse, Schema, Source
from streams_sql.spark.driver import messages
from streams_sql.spark.driver.messages import Event, QueryFailed, Ready, StartQuery, Stopped
from streams_sql.spark.driver.slots import NoSlots
from streams_sql.spark.sources.positions import LATEST

STOP_TIMEOUT_S: Final = 30.0
"""After this time a job that has not reported its end is taken for dead."""
ROWS_KEPT_MS: Final = 24 * 3600 * 1000
"""How long rows stay that are not fetched: those of a server that was killed and never came back."""

_FORMAT: Final = FormatUse("JSON", is_wrapped=True)
_SETTINGS: Final = {"cleanup.policy": "delete", "retention.ms": str(ROWS_KEPT_MS)}
_ODD: Final = re.compile(r"[^A-Za-z0-9.]")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PushSettings:
    """`prefix` begins the topics of queries that Spark runs."""

    consumer: Mapping[str, Any] = field(repr=False)
    registry: RegistryAccess | None
    prefix: str
    queries_max: int
    replicas: int


class PushJobs:
    """`host` is where this server is reached: what an earlier one there has left behind is ours to remove."""

    def __init__(
        self, settings: PushSettings, admin: Admin, driver: SparkDriver, queries: QuerySettings, host: str
    ) -> None:
        self._settings = settings
        self._admin = admin
        self._driver = driver
        self._queries = queries
        place = _ODD.sub("-", host)
        self._prefix = f"{settings.prefix}transient_{place}_"
        self._checkpoints = f"{queries.checkpoint_uri.rstrip('/')}/transient/{place}"
        self._running: dict[str, asyncio.Event] = {}
        self._unavailable: str | None = None

    async def sweep(self) -> None:
        """Remove what a server that was killed could not. StoreFailure."""
        self._driver.forget_query("transient", self._checkpoints)
        for topic in await self._admin.topics():
            if topic.startswith(self._prefix):
                await self._admin.delete_topic(topic)

    async def start(self, query_id: str, plan: PushPlan, properties: Mapping[str, str]) -> PushPlan:
        """Returns a plan that reads the rows of this one. SqlProblem; Unavailable without Kafka or Spark."""
        if self._unavailable is not None:
            raise Unavailable(f"Spark does not run, and this query needs it: {self._unavailable}")
        sink = self._sink(query_id, plan)
        try:
            await self._admin.create_topic(TopicShape(sink.topic, 1, self._settings.replicas, _SETTINGS))
            command = StartQuery(
                query_id,
                PersistentPlan(plan.node, sink),
                self._checkpoint(query_id),
                await self._begin(plan, properties),
                self._queries.trigger(properties),
                options={name: text for name, text in properties.items() if name.startswith(SPARK_PREFIX)},
            )
            self._driver.start_query(command)
        except (StoreFailure, NoSlots) as failure:
            raise Unavailable(str(failure)) from None
        self._running[query_id] = asyncio.Event()
        return PushPlan(read(NamedSource(sink.name, sink), ""), plan.columns, plan.limit)

    async def _begin(self, plan: PushPlan, properties: Mapping[str, str]) -> str:
        """A client that wants new records gets all that are written once it has the columns, however long Spark takes."""
        wanted = starting_offsets(properties)
        return await ends_now(self._admin, plan.node, with_tables=False) if wanted == LATEST else wanted

    async def end(self, query_id: str) -> None:
        """Returns when nothing is left of the job, which takes as long as its batch does."""
        stopped = self._running.get(query_id)
        if stopped is None:
            return
        self._driver.stop_query(query_id)
        try:
            # While the job writes, its topic would come back.
            await asyncio.wait_for(stopped.wait(), STOP_TIMEOUT_S)
        except TimeoutError:
            _logger.warning("%s has not reported its end after %g s", query_id, STOP_TIMEOUT_S)
        self._running.pop(query_id, None)
        self._driver.forget_query(query_id, self._checkpoint(query_id))
        topic = self._topic(query_id)
        try:
            await self._admin.delete_topic(topic)
        except StoreFailure as failure:
            _logger.warning("topic %s stays: %s", topic, failure)

    def on_event(self, event: Event) -> None:
        match event:
            case Ready():
                self._unavailable = None
            case messages.Unavailable(reason):
                self._unavailable = reason
            case Stopped(query_id) | QueryFailed(query_id):
                if (stopped := self._running.get(query_id)) is not None:
                    stopped.set()

    def __contains__(self, query_id: str) -> bool:
        return query_id in self._running

    def _topic(self, query_id: str) -> str:
        return self._prefix + _number(query_id)

    def _checkpoint(self, query_id: str) -> str:
        return f"{self._checkpoints}/{_number(query_id)}"

    def _sink(self, query_id: str, plan: PushPlan) -> Source:
        return Source(
            name=query_id.upper(),
            kind=Kind.STREAM,
            schema=Schema((), plan.columns),
            topic=self._topic(query_id),
            key_format=FormatUse("NONE"),
            value_format=_FORMAT,
            statement="",
            query_id=query_id,
        )


def _number(query_id: str) -> str:
    """It alone is one of a kind, and short."""
    return query_id.rpartition("_")[2]
