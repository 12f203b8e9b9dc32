"""The settings by which source and sink reach a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from connect.api.settings import Importance, Width, setting
from connect.connectors.jdbc.capabilities import DIALECT_NAMES
from connect.connectors.jdbc.identifiers import QuoteMode
from connect.connectors.jdbc.urls import FORMS, DatabaseUrl, UrlError, database_url
from connect.errors import Problem

DATABASE_GROUP: Final = "Database"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    connection_url: str = setting(
        "connection.url",
        f"Where the database is: {FORMS}.",
        importance=Importance.HIGH,
        group=DATABASE_GROUP,
        width=Width.LONG,
    )
    connection_user: str | None = setting(
        "connection.user", "The user of the database.", None, importance=Importance.HIGH, group=DATABASE_GROUP
    )
    connection_password: str | None = setting(
        "connection.password",
        "The password of the user.",
        None,
        secret=True,
        importance=Importance.HIGH,
        group=DATABASE_GROUP,
    )
    connection_attempts: int = setting(
        "connection.attempts",
        "How often a connection is tried before the connector gives up the look for tables; "
        "a task tries on for as long as the database is away.",
        3,
        minimum=1,
        importance=Importance.LOW,
        group=DATABASE_GROUP,
    )
    connection_backoff_ms: int = setting(
        "connection.backoff.ms",
        "How long to wait between two attempts to connect.",
        10_000,
        unit="ms",
        minimum=0,
        importance=Importance.LOW,
        group=DATABASE_GROUP,
    )
    connection_properties: Mapping[str, str] = setting(
        "connection.*",
        "Properties of the driver, under the names of the Java driver or of the one that is used here.",
        secret=True,
        importance=Importance.LOW,
        group=DATABASE_GROUP,
    )
    dialect_name: str = setting(
        "dialect.name",
        "Which kind of database it is, if the URL does not tell.",
        "",
        importance=Importance.LOW,
        group=DATABASE_GROUP,
    )
    quote_sql_identifiers: str = setting(
        "quote.sql.identifiers",
        "Whether the names of tables and columns stand in quotes: always, or never, which leaves upper and lower case to the database.",
        QuoteMode.ALWAYS.value,
        choices=tuple(mode.value for mode in QuoteMode),
        any_case=True,
        group=DATABASE_GROUP,
    )
    db_timezone: str = setting(
        "db.timezone",
        "The time zone of times that are stored without one.",
        "UTC",
        group=DATABASE_GROUP,
    )
    credentials_provider: Mapping[str, str] = setting(
        "jdbc.credentials.provider.*",
        "Taken so that existing configurations can be used; it changes nothing. "
        "References such as ${file:…} and ${env:…} bring credentials from elsewhere.",
        secret=True,
        importance=Importance.LOW,
        group=DATABASE_GROUP,
    )

    def problems(self) -> Iterator[Problem]:
        try:
            self.database_url()
        except UrlError as error:
            yield Problem("connection.url", f"the URL cannot be used: {error}")
        if self.dialect_name and self.dialect_name not in DIALECT_NAMES:
            yield Problem("dialect.name", f"{self.dialect_name!r} is not one of {', '.join(DIALECT_NAMES)}")
        try:
            self.timezone()
        except (ZoneInfoNotFoundError, ValueError, OSError):
            yield Problem(
                "db.timezone", f"{self.db_timezone!r} is no time zone; write a name such as UTC or Europe/Berlin"
            )

    def database_url(self) -> DatabaseUrl:
        return database_url(
            self.connection_url, self.connection_user, self.connection_password, self.connection_properties
        )

    def quote_mode(self) -> QuoteMode:
        return QuoteMode(self.quote_sql_identifiers.lower())

    def timezone(self) -> tzinfo:
        return UTC if self.db_timezone == "UTC" else ZoneInfo(self.db_timezone)
