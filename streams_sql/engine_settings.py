"""What the settings come to for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from barnabas.kernel.kafka_clients.topic_shape import BROKER_DEFAULT
from barnabas.kernel.leadership.election import ElectionSettings
from barnabas.kernel.properties import PropertiesError, parse
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import MASK, Settings
from streams_sql.analysis.defaults import (
    AGGREGATE_LIMITS,
    KEEP_CASE,
    KEY_FORMAT,
    VALUE_FORMAT,
    WRAP_SINGLE_VALUES,
    Defaults,
)
from streams_sql.bounded.memory import MEMORY_SETTING
from streams_sql.bounded.pages import ROWS_SETTING, TIME_SETTING, Budget
from streams_sql.client_names import QUERY_NAMES
from streams_sql.engine.client_queries.push_jobs import PushSettings
from streams_sql.engine.queries.processing_log import ProcessingLogSettings
from streams_sql.engine.queries.query_settings import (
    BATCH_RECORDS,
    FAILS_ON_BAD_RECORD,
    REAL_TIME,
    SPARK_PREFIX,
    STATE_ROWS,
    STREAMS_PREFIX,
    TRIGGER,
    QuerySettings,
)
from streams_sql.engine.statements.connect_client import ConnectAccess
from streams_sql.engine.statements.entities import Property
from streams_sql.engine.statements.function_rules import INLINE, MODULES, FunctionRules
from streams_sql.engine.statements.queries_file import QUERIES_FILE
from streams_sql.formats.serde import RegistryAccess
from streams_sql.settings import CONNECT_URL, PLAIN_REGISTRY_URL, PROCESSING_LOG_PREFIX, REGISTRY_URL, SERVICE_ID
from streams_sql.spark.driver.masters import is_local

PROCESSING_LOG_SUFFIX: Final = "ksql_processing_log"
INTERNAL_PREFIX: Final = "_confluent-ksql-"
MASTER: Final = "spark.master"
ELECTION_PROTOCOL: Final = "ksql"
"""The type of group in which servers elect their leader."""
SESSION_TIMEOUT: Final = f"{STREAMS_PREFIX}session.timeout.ms"
HEARTBEAT_INTERVAL: Final = f"{STREAMS_PREFIX}heartbeat.interval.ms"
SESSION_TIMEOUT_MS: Final = 10_000
HEARTBEATS_PER_SESSION: Final = 3


@dataclass(frozen=True, slots=True)
class EngineSettings:
    settings: Settings

    @property
    def service_id(self) -> str:
        return self.settings.text(SERVICE_ID)

    @property
    def command_topic(self) -> str:
        return f"{INTERNAL_PREFIX}{self.service_id}_command_topic"

    @property
    def internal_prefix(self) -> str:
        """Of topics that only this service knows, and of the group of its servers."""
        return f"{INTERNAL_PREFIX}{self.service_id}"

    @property
    def election(self) -> ElectionSettings:
        """The group in which servers elect the one that runs the queries. Without a heartbeat for as long as a session lasts, another
        one takes over."""
        session_ms = self._milliseconds(SESSION_TIMEOUT, SESSION_TIMEOUT_MS)
        heartbeat_ms = self._milliseconds(HEARTBEAT_INTERVAL, session_ms // HEARTBEATS_PER_SESSION)
        if heartbeat_ms * HEARTBEATS_PER_SESSION > session_ms:
            raise SettingError(
                HEARTBEAT_INTERVAL,
                str(heartbeat_ms),
                f"expected at most a third of {SESSION_TIMEOUT} ({session_ms} ms)",
            )
        return ElectionSettings(
            f"{self.internal_prefix}_leader",
            ELECTION_PROTOCOL,
            session_timeout_ms=session_ms,
            heartbeat_interval_ms=heartbeat_ms,
            sticky=True,
        )

    def _milliseconds(self, name: str, default: int) -> int:
        return self._whole_number(name) if name in self.settings else default

    def _whole_number(self, name: str) -> int:
        text = self.settings.text(name)
        if not text.isdecimal() or not int(text):
            raise SettingError(name, text, "expected a whole number above 0")
        return int(text)

    @property
    def folder(self) -> Path:
        return Path(self.settings.text("sql.data.dir")).absolute()

    @property
    def queries_file(self) -> Path | None:
        """The statements that this server runs; None where clients say what it runs."""
        text = self.settings.text(QUERIES_FILE)
        return Path(text) if text else None

    @property
    def replicas(self) -> int:
        """Of the command topic, and of those whose statements do not say it; BROKER_DEFAULT where nobody does."""
        name, streams = "ksql.internal.topic.replicas", f"{STREAMS_PREFIX}replication.factor"
        if self.settings.is_given(name) or streams not in self.settings:
            return self.settings.integer(name)
        # The default of Kafka Streams.
        return BROKER_DEFAULT if self.settings.text(streams) == str(BROKER_DEFAULT) else self._whole_number(streams)

    @property
    def registry(self) -> RegistryAccess | None:
        url = self.settings.text(REGISTRY_URL) or self.settings.text(PLAIN_REGISTRY_URL)
        if not url:
            return None
        return RegistryAccess(url, self.settings.text_or_none("ksql.schema.registry.basic.auth.user.info"))

    @property
    def connect(self) -> ConnectAccess:
        settings = self.settings
        timeout_s = settings.integer("ksql.connect.request.timeout.ms") / 1000
        return ConnectAccess(settings.text(CONNECT_URL), timeout_s, self._connect_credentials())

    def _connect_credentials(self) -> tuple[str, str] | None:
        settings, name = self.settings, "ksql.connect.basic.auth.credentials.file"
        if settings.text("ksql.connect.basic.auth.credentials.source").lower() != "file":
            return None
        place = settings.text(name)
        try:
            found = {each.name: each.text for each in parse(Path(place).read_bytes())}
        except (OSError, PropertiesError) as error:
            raise SettingError(name, place, f"the file cannot be read: {error}") from None
        if not {"username", "password"} <= found.keys():
            raise SettingError(name, place, "the file needs a username and a password, each in a line: username=…")
        return found["username"], found["password"]

    @property
    def defaults(self) -> Defaults:
        settings = self.settings
        key, value = settings.text_or_none(KEY_FORMAT), settings.text_or_none(VALUE_FORMAT)
        return Defaults(
            key_format=key and key.upper(),
            value_format=value and value.upper(),
            wrap_single_values=settings.boolean(WRAP_SINGLE_VALUES) if settings.is_given(WRAP_SINGLE_VALUES) else None,
            keeps_case=settings.boolean(KEEP_CASE),
            topic_prefix=settings.text("ksql.output.topic.name.prefix"),
            aggregate_limits={name: settings.integer(name) for name in AGGREGATE_LIMITS if settings.is_given(name)},
        )

    @property
    def queries(self) -> QuerySettings:
        settings = self.settings
        streams = {
            name: settings.text(given)
            for name in QUERY_NAMES
            for given in (name, STREAMS_PREFIX + name)
            if settings.is_given(given)
        }
        own = {
            FAILS_ON_BAD_RECORD: str(settings.boolean(FAILS_ON_BAD_RECORD)).lower(),
            REAL_TIME: str(settings.boolean(REAL_TIME)).lower(),
            BATCH_RECORDS: str(settings.integer(BATCH_RECORDS)),
            STATE_ROWS: str(settings.integer(STATE_ROWS)),
        }
        return QuerySettings(self._checkpoint_uri(), settings.integer(TRIGGER), {**own, **streams})

    def _checkpoint_uri(self) -> str:
        """Other services may keep theirs at the same place, and ids of queries are those of one service alone."""
        uri = self.settings.text("sql.checkpoint.uri")
        if not uri:
            return str(self._local_checkpoints())
        place = uri if "://" in uri else str(Path(uri).absolute())
        return f"{place.rstrip('/')}/{self.service_id}"

    def _local_checkpoints(self) -> Path:
        folder, master = self.folder / "checkpoints", self.settings.text(MASTER)
        if not is_local(master):
            raise SettingError(
                "sql.checkpoint.uri",
                "",
                f"Spark runs on a cluster ({MASTER}={master}), whose machines cannot see the folder {folder} of this one: name a place that "
                "all of them share, such as hdfs://… or s3a://…, or file:///… for a folder that each of them has mounted",
            )
        return folder

    @property
    def spark(self) -> dict[str, str]:
        """Settings of Spark's own, without the master."""
        settings = self.settings
        return {
            name: settings.text(name)
            for name in settings
            if name.startswith(SPARK_PREFIX) and name != MASTER and settings.is_given(name)
        }

    def pushes(self, client: Mapping[str, Any]) -> PushSettings:
        """`client` is what Kafka's clients are made with."""
        queries_max = self.settings.integer("ksql.max.push.queries")
        return PushSettings(client, self.registry, self.internal_prefix, queries_max, self.replicas)

    @property
    def functions(self) -> FunctionRules:
        modules = self.settings.items_of(MODULES)
        return FunctionRules(tuple(filter(None, modules)), self.settings.boolean(INLINE))

    @property
    def processing_log(self) -> ProcessingLogSettings:
        settings, prefix = self.settings, PROCESSING_LOG_PREFIX
        has_topic, has_stream = (settings.boolean(f"{prefix}{what}.auto.create") for what in ("topic", "stream"))
        topic = settings.text(f"{prefix}topic.name") or f"{self.service_id}{PROCESSING_LOG_SUFFIX}"
        return ProcessingLogSettings(
            topic=topic if has_topic or has_stream else None,
            partitions=settings.integer(f"{prefix}topic.partitions"),
            replicas=settings.integer(f"{prefix}topic.replication.factor"),
            stream=settings.text(f"{prefix}stream.name").upper() if has_stream else None,
            has_rows=settings.boolean(f"{prefix}rows.include"),
        )

    @property
    def budget(self) -> Budget:
        settings = self.settings
        return Budget(
            rows=settings.integer(ROWS_SETTING),
            seconds=settings.integer(TIME_SETTING) / 1000,
            memory_bytes=settings.integer(MEMORY_SETTING),
        )

    def shown(self) -> list[Property]:
        """The properties that clients may see."""
        found = []
        for name, declared in self.settings.catalogue.items():
            if declared.many or declared.inert:
                continue
            value = declared.format(self.settings[name])
            text = MASK if declared.hidden and value else (value or "")
            found.append(Property(name, text, is_default=not self.settings.is_given(name)))
        return found
