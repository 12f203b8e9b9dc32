"""What the errors of database drivers mean: an outage, bad data, or something that somebody must mend."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError, StatementError


class FailureKind(Enum):
    OUTAGE = auto()
    """The same statement may well work later: the server is away, stops, is full, or another transaction was in the way."""
    MISSING_TABLE = auto()
    DATA = auto()
    """A value that does not fit its column, or a constraint that it breaks."""
    OTHER = auto()
    """A statement or a configuration that has to be changed."""


@dataclass(frozen=True, slots=True)
class _Codes:
    """The codes of a driver's errors, each list with the beginnings of codes."""

    code_of: Callable[[BaseException], str]
    outages: tuple[str, ...]
    missing_tables: tuple[str, ...]
    data: tuple[str, ...]


def _sql_state(error: BaseException) -> str:
    """PostgreSQL's state; a failed connection has none, and its text tells whether the server has refused us for good."""
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return str(state)
    if type(error).__name__ not in ("OperationalError", "ConnectionTimeout"):
        return ""
    refused = "FATAL:" in str(error) and not _PASSING_REFUSALS.search(str(error))
    return _REFUSED if refused else _NO_CONNECTION


def _mysql_code(error: BaseException) -> str:
    return _exactly(error.args[0])[0] if error.args else ""


def _exactly(*numbers: int) -> tuple[str, ...]:
    """Codes that are not the beginnings of others."""
    return tuple(f"{number}." for number in numbers)


def _sqlite_name(error: BaseException) -> str:
    name = getattr(error, "sqlite_errorname", "")
    return "missing table" if name == "SQLITE_ERROR" and "no such table" in str(error) else str(name)


def _duckdb_class(error: BaseException) -> str:
    name = type(error).__name__
    return "missing table" if name == "CatalogException" and "Table with name" in str(error) else name


_NO_CONNECTION: Final = "08"
_REFUSED: Final = "28"
_PASSING_REFUSALS: Final = re.compile(r"starting up|shutting down|recovery|too many (?:clients|connections)|slots are")
_NO_CODES: Final = _Codes(lambda error: "", (), (), ())
_CODES: Final[Mapping[str, _Codes]] = {
    # Classes of SQLSTATE: connection, resources, operator, system, rollback; a lock that was not to be had.
    "psycopg": _Codes(_sql_state, ("08", "53", "57", "58", "40", "55P03"), ("42P01",), ("22", "23", "21")),
    "pymysql": _Codes(
        _mysql_code,
        _exactly(
            0, 1040, 1053, 1077, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1927, 2002, 2003, 2006, 2013, 2055, 4031
        ),
        _exactly(1146),
        _exactly(1048, 1062, 1264, 1265, 1292, 1364, 1365, 1366, 1367, 1406, 1411, 1451, 1452, 1690, 3819, 4025),
    ),
    "pysqlite": _Codes(
        _sqlite_name,
        ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_PROTOCOL"),
        ("missing table",),
        ("SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_TOOBIG"),
    ),
    "duckdb_engine": _Codes(
        _duckdb_class,
        ("IOException", "ConnectionException", "TransactionException"),
        ("missing table",),
        ("ConversionException", "ConstraintException", "OutOfRangeException", "DataError", "InvalidInputException"),
    ),
}
# Errors that drivers raise before anything is sent, for a value that they cannot write.
_UNWRITABLE: Final = ("DataError", "IntegrityError", "OverflowError", "UnicodeEncodeError")


def kind_of(error: BaseException, dialect: Dialect) -> FailureKind:
    """What an error of the driver, or of SQLAlchemy around it, means."""
    disconnected = isinstance(error, DBAPIError) and error.connection_invalidated
    if isinstance(error, StatementError) and error.orig is not None:
        error = error.orig
    if disconnected or isinstance(error, (ConnectionError, TimeoutError)):
        return FailureKind.OUTAGE
    codes = _CODES.get(dialect.driver, _NO_CODES)
    code = codes.code_of(error)
    if code.startswith(codes.outages):
        return FailureKind.OUTAGE
    if code.startswith(codes.missing_tables):
        return FailureKind.MISSING_TABLE
    if code.startswith(codes.data) or any(each.__name__ in _UNWRITABLE for each in type(error).__mro__):
        return FailureKind.DATA
    return FailureKind.OUTAGE if _is_disconnect(error, dialect) else FailureKind.OTHER


def _is_disconnect(error: BaseException, dialect: Dialect) -> bool:
    dbapi = dialect.loaded_dbapi
    return isinstance(error, dbapi.Error) and dialect.is_disconnect(error, None, None)


def text_of(error: BaseException) -> str:
    """What the driver says, in one line, without the statement and its parameters."""
    if isinstance(error, StatementError) and error.orig is not None:
        error = error.orig
    if isinstance(error.args[0] if error.args else None, int) and len(error.args) > 1:
        return f"{error.args[1]} (code {error.args[0]})"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines) or type(error).__name__
