"""URLs of databases, in Java's form and in SQLAlchemy's."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, create_mock_engine, select

from connect.connectors.jdbc.urls import UrlError, database_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jdbc:postgresql://h:5433/db", "postgresql+psycopg://h:5433/db"),
        ("jdbc:postgresql://h/db?user=u&password=p%40", "postgresql+psycopg://u:p%40@h/db"),
        ("jdbc:postgresql:db", "postgresql+psycopg://localhost/db"),
        ("jdbc:postgresql://[::1]:5432/db", "postgresql+psycopg://[::1]:5432/db"),
        ("jdbc:postgresql://a:1,b:2/db", "postgresql+psycopg:///db?host=a%3A1&host=b%3A2"),
        ("jdbc:postgresql://h/db?ssl=true", "postgresql+psycopg://h/db?sslmode=verify-full"),
        ("jdbc:postgresql://h/db?sslmode=require&currentSchema=s", "postgresql+psycopg://h/db?options=-csearch_path%3Ds&sslmode=require"),
        ("jdbc:postgresql://h/db?targetServerType=primary", "postgresql+psycopg://h/db?target_session_attrs=primary"),
        ("jdbc:mysql://h:3306/db?connectTimeout=2500", "mysql+pymysql://h:3306/db?connect_timeout=2"),
        ("jdbc:mysql://h/db?useSSL=false", "mysql+pymysql://h/db?ssl_disabled=true"),
        ("jdbc:mysql://h/db?sslMode=VERIFY_IDENTITY", "mysql+pymysql://h/db?ssl_verify_cert=true&ssl_verify_identity=true"),
        ("jdbc:mariadb://h/db?sslMode=verify-ca", "mariadb+pymysql://h/db?ssl_verify_cert=true"),
        ("jdbc:mariadb://h/db?user=u", "mariadb+pymysql://u@h/db"),
        ("jdbc:sqlite:/data/my file.db", "sqlite+pysqlite:////data/my file.db"),
        ("jdbc:sqlite::memory:", "sqlite+pysqlite:///%3Amemory%3A"),
        ("jdbc:duckdb:", "duckdb:///%3Amemory%3A"),
        ("jdbc:duckdb:/d.duckdb?duckdb.read_only=true", "duckdb:////d.duckdb?access_mode=READ_ONLY"),
        ("jdbc:sqlserver://h:1433;databaseName=db;user=u;password=p;", "mssql+pymssql://u:p@h:1433/db"),
        ("jdbc:oracle:thin:@//h:1521/svc", "oracle+oracledb://h:1521?service_name=svc"),
        ("jdbc:oracle:thin:u/p@h:1521:sid", "oracle+oracledb://u:p@h:1521/sid"),
        ("postgresql://u:p@h/db", "postgresql+psycopg://u:p@h/db"),
        ("mysql://h/db", "mysql+pymysql://h/db"),
        ("sqlite:////data/x.db", "sqlite+pysqlite:////data/x.db"),
        ("postgresql+asyncpg://h/db", "postgresql+asyncpg://h/db"),
    ],
)  # fmt: skip
def test_a_url_is_translated(text: str, expected: str) -> None:
    assert database_url(text).url.render_as_string(hide_password=False) == expected


def test_settings_win_over_the_url() -> None:
    found = database_url("jdbc:postgresql://h/db?user=a&password=b&sslmode=require", "u", "p", {"sslmode": "disable"})
    assert found.url.render_as_string(hide_password=False) == "postgresql+psycopg://u:p@h/db?sslmode=disable"


def test_parameters_without_a_counterpart_are_told() -> None:
    found = database_url("jdbc:mysql://h/db?serverTimezone=UTC&useSSL=true", properties={"useCursorFetch": "true"})
    assert found.passed_over == ("serverTimezone", "useCursorFetch")
    assert found.url.render_as_string() == "mysql+pymysql://h/db"


def test_credentials_of_oracle_are_taken() -> None:
    found = database_url("jdbc:oracle:thin:@//h:1521/svc", "u", "p")
    assert found.url.render_as_string(hide_password=False) == "oracle+oracledb://u:p@h:1521?service_name=svc"


@pytest.mark.parametrize("text", ["jdbc:sqlite:{}", "jdbc:duckdb:{}", "sqlite:///{}", "jdbc:sqlite:{}?user=a"])
def test_a_database_that_is_a_file_has_no_users(text: str, tmp_path: Path) -> None:
    found = database_url(text.format(tmp_path / "data"), "u", "secret")
    assert set(found.passed_over) == {"user", "password"}
    assert len(found.passed_over) == 2
    with create_engine(found.url).connect() as connection:
        assert connection.scalar(select(1)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "sqlite://u:secret@h/f", "sqlite://secret/f", "duckdb://u:secret@h/f",
        "", "secret", "jdbc:secret", "jdbc:db2://secret/x", "jdbc:sqlserver:secret", "jdbc:oracle:oci:@secret",
        "jdbc:mysql://secret/x?connectTimeout=soon", "jdbc:mysql://h/x?sslMode=secret", "postgresql://u:secret@h:port/x",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused_without_telling_it(text: str) -> None:
    with pytest.raises(UrlError) as raised:
        database_url(text)
    assert "secret" not in str(raised.value)


def test_drivers_take_the_urls() -> None:
    for text in ("jdbc:postgresql://h/db", "jdbc:mysql://h/db", "jdbc:sqlite:x", "jdbc:duckdb:x"):
        create_mock_engine(database_url(text).url, executor=lambda *_: None)
