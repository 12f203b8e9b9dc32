"""The settings of the JDBC source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from barnabas.kernel.settings import Kind
from connect.api.pattern import InvalidPattern, compiled
from connect.api.settings import Importance, setting
from connect.connectors.jdbc.column_readings import NumericMapping
from connect.connectors.jdbc.connection_settings import ConnectionSettings
from connect.connectors.jdbc.discovery import TableFilter
from connect.connectors.jdbc.increments import IncrementRules, MappingError, Mode, parse_mappings
from connect.connectors.jdbc.lookback import Window
from connect.connectors.jdbc.timestamps import Granularity
from connect.errors import Problem

MODE_GROUP: Final = "Mode"
CONNECTOR_GROUP: Final = "Connector"
_INERT: Final = "Taken so that existing configurations can be used; it changes nothing here."
_ISOLATIONS: Final = {
    "DEFAULT": None,
    "READ_UNCOMMITTED": "READ UNCOMMITTED",
    "READ_COMMITTED": "READ COMMITTED",
    "REPEATABLE_READ": "REPEATABLE READ",
    "SERIALIZABLE": "SERIALIZABLE",
    "SQL_SERVER_SNAPSHOT": "SNAPSHOT",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JdbcSourceSettings(ConnectionSettings):
    mode: str = setting(
        "mode",
        "How new rows are found at each poll. bulk: the whole table is read each time. incrementing: rows whose number is greater "
        "than the last; changes of rows are not seen. timestamp: rows whose time is later than the last. timestamp+incrementing: "
        "both, so that each row has a place of its own and none is read twice. Deleted rows are never seen, and rows that are "
        "committed behind others that were read already are missed, unless timestamp.lookback.ms or incrementing.lookback is set.",
        choices=tuple(mode.value for mode in Mode),
        importance=Importance.HIGH,
        group=MODE_GROUP,
        dependents=("incrementing.column.name", "timestamp.column.name", "validate.non.null"),
    )
    incrementing_column_name: str = setting(
        "incrementing.column.name",
        "The column of whole numbers that only grow. Empty: the column that the database counts up by itself.",
        "",
        group=MODE_GROUP,
    )
    incrementing_column_mapping: tuple[str, ...] = setting(
        "incrementing.column.mapping",
        "The same for each table: `pattern:column`, with patterns of full names of tables, of which exactly one matches each table.",
        (),
        group=MODE_GROUP,
    )
    timestamp_column_name: tuple[str, ...] = setting(
        "timestamp.column.name",
        "The column with the time of the last change; of several, the first that is not NULL counts.",
        (),
        group=MODE_GROUP,
    )
    timestamp_columns_mapping: tuple[str, ...] = setting(
        "timestamp.columns.mapping", "The same for each table: `pattern:[column|column]`.", (), group=MODE_GROUP
    )
    timestamp_initial: int | None = setting(
        "timestamp.initial",
        "From when on a table is read that was never read before, in milliseconds since 1970; -1: from now on. Without it, everything is.",
        None,
        kind=Kind.LONG,
        unit="ms",
        minimum=-1,
        importance=Importance.LOW,
        group=MODE_GROUP,
    )
    timestamp_delay_interval_ms: int = setting(
        "timestamp.delay.interval.ms",
        "How old a row must be, by its time, before it is read: transactions that take less time are not missed.",
        0,
        kind=Kind.LONG,
        unit="ms",
        minimum=0,
        group=CONNECTOR_GROUP,
    )
    timestamp_lookback_ms: int = setting(
        "timestamp.lookback.ms",
        "How far each poll goes back before the last time that was read, for rows that were committed late. Rows are read at once, and "
        "those that were read before are left out; after a restart or an outage the rows of this span come again.",
        0,
        kind=Kind.LONG,
        unit="ms",
        minimum=0,
        group=CONNECTOR_GROUP,
    )
    incrementing_lookback: int = setting(
        "incrementing.lookback",
        "The same in incrementing mode: how many numbers each poll goes back before the last that was read.",
        0,
        kind=Kind.LONG,
        minimum=0,
        group=CONNECTOR_GROUP,
    )
    timestamp_granularity: str = setting(
        "timestamp.granularity",
        "What times are in records: Connect's own type with milliseconds, or numbers or text with micro- or nanoseconds.",
        Granularity.CONNECT_LOGICAL.value,
        choices=tuple(each.value for each in Granularity),
        any_case=True,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    validate_non_null: bool = setting(
        "validate.non.null",
        "Whether columns that allow NULL are refused as incrementing and timestamp columns: rows with NULL would never be read.",
        True,
        importance=Importance.LOW,
        group=MODE_GROUP,
    )
    query: str = setting(
        "query",
        "A query to read instead of tables. With a mode other than bulk, the conditions for new rows are put around it.",
        "",
        group=MODE_GROUP,
    )
    query_masked: str | None = setting(
        "query.masked", "The same as query, for one with secrets in it.", None, secret=True, group=MODE_GROUP
    )
    query_suffix: str = setting(
        "query.suffix",
        "Text behind each query, such as a LIMIT or hints for locks. A LIMIT in timestamp mode loses rows of equal times.",
        "",
        importance=Importance.LOW,
        group=MODE_GROUP,
    )
    query_retry_attempts: int = setting(
        "query.retry.attempts",
        "How often in a row reading is tried again when the database is away, before the task fails; -1: for as long as it takes.",
        -1,
        minimum=-1,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    table_whitelist: tuple[str, ...] = setting(
        "table.whitelist", "The names of the tables to read, full or not. Empty: all.", (), group="Database"
    )
    table_blacklist: tuple[str, ...] = setting(
        "table.blacklist", "The names of tables not to read.", (), group="Database"
    )
    table_include_list: tuple[str, ...] = setting(
        "table.include.list", "Patterns of the full names of tables to read.", (), group="Database"
    )
    table_exclude_list: tuple[str, ...] = setting(
        "table.exclude.list", "Patterns of the full names of tables not to read.", (), group="Database"
    )
    table_types: tuple[str, ...] = setting(
        "table.types",
        "What counts as a table: TABLE, VIEW, MATERIALIZED VIEW; other words of JDBC find nothing.",
        ("TABLE",),
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    schema_pattern: str | None = setting(
        "schema.pattern",
        "Which schemas are looked at: a name, in which % and _ stand for any text and any character. "
        "Without it, all schemas of users; with MySQL, MariaDB and Oracle that of the connection.",
        None,
        group="Database",
    )
    catalog_pattern: str | None = setting(
        "catalog.pattern",
        "The same for databases whose schemas are called catalogs, as in MySQL.",
        None,
        group="Database",
    )
    topic_prefix: str = setting(
        "topic.prefix",
        "What topics begin with; the name of the table follows. With a query it is the whole name of the topic.",
        importance=Importance.HIGH,
        group=CONNECTOR_GROUP,
    )
    poll_interval_ms: int = setting(
        "poll.interval.ms", "How often each table is asked for new rows.", 5_000, unit="ms", minimum=0,
        importance=Importance.HIGH, group=CONNECTOR_GROUP,
    )  # fmt: skip
    batch_max_rows: int = setting(
        "batch.max.rows",
        "How many rows at most go on together; as many are kept in memory twice.",
        1_000,
        minimum=1,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    table_poll_interval_ms: int = setting(
        "table.poll.interval.ms",
        "How often the connector looks for new and dropped tables.",
        60_000,
        kind=Kind.LONG,
        unit="ms",
        minimum=1,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    numeric_mapping: str | None = setting(
        "numeric.mapping",
        "What NUMERIC and DECIMAL columns are in records. none: Connect's decimal. precision_only and best_fit: whole numbers where "
        "64 bits hold them; best_fit also double for numbers with up to 18 digits; best_fit_eager_double: double for all with a scale.",
        None,
        choices=tuple(each.value for each in NumericMapping),
        any_case=True,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    numeric_precision_mapping: bool = setting(
        "numeric.precision.mapping",
        "The older way to say numeric.mapping=precision_only.",
        False,
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    transaction_isolation_mode: str = setting(
        "transaction.isolation.mode",
        "The isolation level of the transactions in which rows are read.",
        "DEFAULT",
        choices=tuple(_ISOLATIONS),
        importance=Importance.LOW,
        group=CONNECTOR_GROUP,
    )
    max_buffer_size: int = setting("max.buffer.size", _INERT, 0, importance=Importance.LOW)
    poll_linger_ms: int = setting("poll.linger.ms", _INERT, 5_000, kind=Kind.LONG, importance=Importance.LOW)
    startup_limit_ms: int = setting(
        "table.monitoring.startup.polling.limit.ms", _INERT, 10_000, kind=Kind.LONG, importance=Importance.LOW
    )
    date_calendar_system: str = setting(
        "date.calendar.system",
        f"{_INERT} Dates are those of the calendar of today, also before 1582.",
        "LEGACY",
        importance=Importance.LOW,
    )

    def problems(self) -> Iterator[Problem]:
        # Named, since slots make a new class, which the short form of super does not know.
        yield from ConnectionSettings.problems(self)
        yield from self._table_problems()
        yield from self._column_problems()

    def _table_problems(self) -> Iterator[Problem]:
        lists = {
            "table.whitelist": self.table_whitelist,
            "table.blacklist": self.table_blacklist,
            "table.include.list": self.table_include_list,
            "table.exclude.list": self.table_exclude_list,
        }
        given = [name for name, value in lists.items() if value]
        if self.all_query and given:
            yield Problem(
                "query", f"it cannot be set together with {' and '.join(given)}: a query names its own tables"
            )
        if self.query and self.query_masked:
            yield Problem("query.masked", "it cannot be set together with query")
        if len(given) > 1 and given != ["table.include.list", "table.exclude.list"]:
            yield Problem(given[1], f"it cannot be set together with {given[0]}")
        for name in ("table.include.list", "table.exclude.list"):
            yield from (Problem(name, f"{text!r} is no pattern: {why}") for text, why in _bad_patterns(lists[name]))

    def _column_problems(self) -> Iterator[Problem]:
        mode, is_query = Mode(self.mode), bool(self.all_query)
        mappings: Sequence[tuple[str, Sequence[str]]] = (
            ("incrementing.column.mapping", self.incrementing_column_mapping),
            ("timestamp.columns.mapping", self.timestamp_columns_mapping),
        )
        for name, texts in mappings:
            try:
                parse_mappings(texts)
            except MappingError as error:
                yield Problem(name, str(error))
            if texts and is_query:
                yield Problem(name, "it says something about tables, and a query is read")
        if mode.has_timestamps and not self.timestamp_column_name and not self.timestamp_columns_mapping:
            yield Problem("timestamp.column.name", f"mode {self.mode} needs the name of a column")
        if mode.has_incrementing and is_query and not self.incrementing_column_name:
            yield Problem("incrementing.column.name", f"mode {self.mode} needs the name of a column of the query")
        if self.timestamp_lookback_ms and not mode.has_timestamps:
            yield Problem("timestamp.lookback.ms", f"mode {self.mode} has no times; use incrementing.lookback")
        if self.incrementing_lookback and mode is not Mode.INCREMENTING:
            yield Problem("incrementing.lookback", f"it belongs to mode incrementing; mode {self.mode} is set")

    @property
    def all_query(self) -> str:
        """The query, if one is read instead of tables."""
        return (self.query_masked or self.query).strip().rstrip(";")

    @property
    def isolation(self) -> str | None:
        """The level in SQLAlchemy's words; None: that of the database."""
        return _ISOLATIONS[self.transaction_isolation_mode]

    def numbers(self) -> NumericMapping:
        if self.numeric_mapping is not None:
            return NumericMapping(self.numeric_mapping.lower())
        return NumericMapping.PRECISION_ONLY if self.numeric_precision_mapping else NumericMapping.NONE

    def granularity(self) -> Granularity:
        return Granularity(self.timestamp_granularity.lower())

    def window(self) -> Window:
        return Window(timedelta(milliseconds=self.timestamp_lookback_ms), self.incrementing_lookback)

    def increments(self) -> IncrementRules:
        return IncrementRules(
            Mode(self.mode),
            self.incrementing_column_name,
            self.timestamp_column_name,
            parse_mappings(self.incrementing_column_mapping),
            parse_mappings(self.timestamp_columns_mapping),
            self.validate_non_null,
        )

    def table_filter(self) -> TableFilter:
        return TableFilter(
            [kind.upper() for kind in self.table_types],
            self.schema_pattern or self.catalog_pattern,
            self.table_whitelist,
            self.table_blacklist,
            self.table_include_list,
            self.table_exclude_list,
        )


def _bad_patterns(patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        try:
            compiled(pattern)
        except InvalidPattern as error:
            yield pattern, str(error)
