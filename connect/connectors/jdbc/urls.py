"""Where a database is: `jdbc:` URLs and SQLAlchemy's, and what their parameters are called by the drivers here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

JDBC: Final = "jdbc:"
FORMS: Final = (
    "jdbc:postgresql://host:5432/database, jdbc:mysql://host:3306/database, jdbc:mariadb://host:3306/database, "
    "jdbc:sqlite:/path/of/the/file, jdbc:duckdb:/path/of/the/file, jdbc:sqlserver://host:1433;databaseName=database, "
    "jdbc:oracle:thin:@//host:1521/service, or an URL of SQLAlchemy"
)
MILLISECONDS_PER_SECOND: Final = 1000
_ORACLE: Final = re.compile(
    r"thin:(?:(?P<user>[^/@]+)/(?P<password>[^@]*))?@(?://)?(?P<host>[^:/?]+)(?::(?P<port>\d+))?"
    r"(?:(?P<separator>[:/])(?P<name>[^?]+))?"
)
_SQL_SERVER: Final = re.compile(r"//(?P<host>[^:;\\]*)(?:\\[^:;]*)?(?::(?P<port>\d+))?(?P<properties>;.*)?", re.DOTALL)


class UrlError(ValueError):
    """A URL that names no database; the message never holds the URL, since a password may stand in it."""


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """The URL for SQLAlchemy, and the parameters that the driver here does not have."""

    url: URL
    passed_over: tuple[str, ...] = ()

    @property
    def file(self) -> Path | None:
        """The file that the database is; None for those in memory, at a server, or under a URL of the driver's own."""
        name = self.url.database
        if self.url.get_backend_name() not in _FILES or not name or name.startswith((":", *_NO_PATHS)):
            return None
        return Path(name)


@dataclass(frozen=True, slots=True)
class _Driver:
    """A driver of SQLAlchemy and what it calls the parameters of the Java driver. `known` are taken under their own names."""

    name: str
    renamed: Mapping[str, Callable[[str], Mapping[str, str]]]
    known: frozenset[str]


def _as(name: str) -> Callable[[str], Mapping[str, str]]:
    return lambda text: {name: text}


def _as_seconds(name: str) -> Callable[[str], Mapping[str, str]]:
    """Java says milliseconds where the driver here wants seconds."""
    return lambda text: {name: str(max(1, int(text) // MILLISECONDS_PER_SECOND))}


def _when_true(name: str, value: str) -> Callable[[str], Mapping[str, str]]:
    return lambda text: {name: value} if text.lower() in ("true", "") else {}


def _mysql_ssl_mode(text: str) -> Mapping[str, str]:
    mode = text.lower().replace("-", "_")
    if mode not in _MYSQL_SSL_MODES:
        raise UrlError(f"its parameter sslMode must be one of {', '.join(_MYSQL_SSL_MODES)}")
    return _MYSQL_SSL_MODES[mode]


_CREDENTIALS: Final[Mapping[str, Callable[[str], Mapping[str, str]]]] = {
    "user": _as("user"),
    "password": _as("password"),
}
_MYSQL_SSL_MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "disable": {"ssl_disabled": "true"},
    "disabled": {"ssl_disabled": "true"},
    "preferred": {},
    "trust": {"ssl_verify_cert": "false"},
    "required": {"ssl_verify_cert": "false"},
    "verify_ca": {"ssl_verify_cert": "true"},
    "verify_full": {"ssl_verify_cert": "true", "ssl_verify_identity": "true"},
    "verify_identity": {"ssl_verify_cert": "true", "ssl_verify_identity": "true"},
}
_SERVER_TYPES: Final[Mapping[str, str]] = {
    "primary": "primary", "master": "primary", "secondary": "standby", "preferprimary": "any", "prefersecondary": "prefer-standby",
}  # fmt: skip
_MYSQL: Final = _Driver(
    "pymysql",
    {
        **_CREDENTIALS,
        "connectTimeout": _as_seconds("connect_timeout"),
        "socketTimeout": _as_seconds("read_timeout"),
        "useSSL": lambda text: {"ssl_disabled": "true"} if text.lower() == "false" else {},
        "sslMode": _mysql_ssl_mode,
        "ssl_disabled": _when_true("ssl_disabled", "true"),
        "serverSslCert": _as("ssl_ca"),
        "localSocket": _as("unix_socket"),
        "allowLoadLocalInfile": _when_true("local_infile", "1"),
    },
    frozenset(
        {"charset", "connect_timeout", "read_timeout", "write_timeout", "unix_socket", "local_infile", "init_command"}
        | {"ssl_ca", "ssl_cert", "ssl_key", "ssl_verify_cert", "ssl_verify_identity", "bind_address"}
    ),
)
_DRIVERS: Final[Mapping[str, _Driver]] = {
    "postgresql": _Driver(
        "psycopg",
        {
            **_CREDENTIALS,
            "ssl": _when_true("sslmode", "verify-full"),
            "currentSchema": lambda text: {"options": f"-csearch_path={text}"},
            "ApplicationName": _as("application_name"),
            "connectTimeout": _as("connect_timeout"),
            "loginTimeout": _as("connect_timeout"),
            "tcpKeepAlive": _when_true("keepalives", "1"),
            "targetServerType": lambda text: {"target_session_attrs": _SERVER_TYPES.get(text.lower(), "any")},
            "loadBalanceHosts": _when_true("load_balance_hosts", "random"),
        },
        frozenset(
            {"sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl", "options", "application_name"}
            | {"connect_timeout", "keepalives", "keepalives_idle", "tcp_user_timeout", "target_session_attrs", "host"}
            | {"port", "gssencmode", "krbsrvname", "channel_binding", "load_balance_hosts", "passfile", "service"}
        ),
    ),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": _Driver("pysqlite", {"busy_timeout": _as_seconds("timeout")}, frozenset({"timeout", "mode", "uri"})),
    "duckdb": _Driver(
        "duckdb_engine",
        {"duckdb.read_only": _when_true("access_mode", "READ_ONLY")},
        frozenset({"access_mode", "threads"}),
    ),
    "mssql": _Driver(
        "pymssql",
        {**_CREDENTIALS, "applicationName": _as("appname")},
        frozenset({"charset", "timeout", "login_timeout", "appname", "tds_version", "encryption"}),
    ),
    "oracle": _Driver("oracledb", _CREDENTIALS, frozenset({"service_name", "sid", "config_dir", "wallet_location"})),
}


def database_url(
    text: str, user: str | None = None, password: str | None = None, properties: Mapping[str, str] | None = None
) -> DatabaseUrl:
    """The URL for SQLAlchemy; `user`, `password` and `properties` of the driver win over what stands in the text."""
    url, given = _jdbc(text.strip()) if text.strip().lower().startswith(JDBC) else _sqlalchemy(text.strip())
    credentials = {} if not user else {"user": user}
    if password is not None:
        credentials["password"] = password
    translated, passed_over = _translated(url, [*given, *(properties or {}).items(), *credentials.items()])
    found = url.update_query_dict({name: value for name, value in translated.items() if name not in _CREDENTIALS})
    if translated.get("user"):
        found = found.set(username=translated["user"])
    if "password" in translated:
        found = found.set(password=translated["password"])
    return DatabaseUrl(found, passed_over)


def _translated(url: URL, given: Iterable[tuple[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        return dict(given), ()
    found: dict[str, str] = {}
    passed_over = []
    for name, text in given:
        if name in driver.renamed:
            try:
                found |= driver.renamed[name](text)
            except UrlError:
                raise
            except ValueError:
                raise UrlError(f"its parameter {name} must be a whole number") from None
        elif name in driver.known:
            found[name] = text
        else:
            passed_over.append(name)
    return found, tuple(dict.fromkeys(passed_over))


def _sqlalchemy(text: str) -> tuple[URL, list[tuple[str, str]]]:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UrlError(f"it is not the URL of a database; write {FORMS}") from None
    backend = url.get_backend_name()
    if backend in _FILES and (url.host or url.username):
        raise UrlError(f"{backend} has neither hosts nor users; write {backend}:////path/of/the/file with four slashes")
    if url.drivername == backend and backend in _DRIVERS and backend != "duckdb":
        url = url.set(drivername=f"{backend}+{_DRIVERS[backend].name}")
    return url, []


def _jdbc(text: str) -> tuple[URL, list[tuple[str, str]]]:
    backend, colon, rest = text[len(JDBC) :].partition(":")
    reading = _JDBC_READINGS.get(backend.lower())
    if reading is None or not colon:
        raise UrlError(f"it names no kind of database that is known here; write {FORMS}")
    return reading(backend.lower(), rest)


def _network(backend: str, rest: str) -> tuple[URL, list[tuple[str, str]]]:
    """`//host:port,host:port/database?name=value&…`; the host and the port have the usual defaults."""
    where, _, parameters = rest.partition("?")
    hosts, _, database = where.removeprefix("//").partition("/") if where.startswith("//") else ("", "", where)
    driver = f"{backend}+{_DRIVERS[backend].name}"
    query = parse_qsl(parameters, keep_blank_values=True)
    name = unquote(database) or None
    if "," in hosts:
        url = URL.create(driver, database=name, query={"host": tuple(hosts.split(","))})
        return url, query
    host, _, port = hosts.rpartition(":") if re.search(r":\d*$", hosts) else (hosts, "", "")
    # The brackets around an IPv6 address are the URL's, not the address's.
    host = host.strip("[]") or "localhost"
    return URL.create(driver, host=host, port=int(port) if port else None, database=name), query


def _file(backend: str, rest: str) -> tuple[URL, list[tuple[str, str]]]:
    path, _, parameters = rest.partition("?")
    driver = "duckdb" if backend == "duckdb" else f"{backend}+{_DRIVERS[backend].name}"
    url = URL.create(driver, database=path or ":memory:")
    return url, parse_qsl(parameters, keep_blank_values=True)


def _sql_server(_: str, rest: str) -> tuple[URL, list[tuple[str, str]]]:
    found = _SQL_SERVER.fullmatch(rest)
    if found is None:
        raise UrlError("it must have the form jdbc:sqlserver://host:1433;databaseName=database")
    pairs = [pair.partition("=") for pair in (found["properties"] or "").split(";") if pair]
    properties = {name.strip(): value.strip() for name, _, value in pairs}
    database = properties.pop("databaseName", None) or properties.pop("database", None)
    host, port = found["host"] or "localhost", int(found["port"]) if found["port"] else None
    return URL.create("mssql+pymssql", host=host, port=port, database=database), list(properties.items())


def _oracle(_: str, rest: str) -> tuple[URL, list[tuple[str, str]]]:
    found = _ORACLE.match(rest)
    if found is None:
        raise UrlError("it must have the form jdbc:oracle:thin:@//host:1521/service or jdbc:oracle:thin:@host:1521:sid")
    by_name = {"service_name": found["name"]} if found["separator"] == "/" else {}
    url = URL.create(
        "oracle+oracledb",
        username=found["user"],
        password=found["password"],
        host=found["host"],
        port=int(found["port"]) if found["port"] else None,
        database=None if by_name else found["name"],
        query=by_name,
    )
    return url, []


_FILES: Final = ("sqlite", "duckdb")
"""The databases that are a file: they have no users, so credentials are passed over, as Java's drivers do."""
_NO_PATHS: Final = ("file:", "md:")
_JDBC_READINGS: Final[Mapping[str, Callable[[str, str], tuple[URL, list[tuple[str, str]]]]]] = {
    "postgresql": _network, "mysql": _network, "mariadb": _network,
    "sqlite": _file, "duckdb": _file, "sqlserver": _sql_server, "oracle": _oracle,
}  # fmt: skip
