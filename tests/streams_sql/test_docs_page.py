"""docs/sql.md: its statements are ones that the server takes. Its programs are run by the tests of all pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from barnabas.sql import Client, Refused
from streams_sql.language.parsing import parse_statement
from streams_sql.language.splitting import split_statements
from streams_sql.language.statements import Explain, Query
from tests.sql_service import SqlProcess

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
_MADE = r"CREATE (SOURCE )?(STREAM|TABLE) (clicks|users|users_now|orders) \("
WRONG = "SHOW NOTHING;"


def sql_blocks() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


def test_every_statement_can_be_made(sql_service: SqlProcess) -> None:
    """All of them in one request, with one at its end that is wrong: then nothing is done, but everything has been tried out."""
    statements = [one for block in sql_blocks() for one in split_statements(block)]
    parsed = [parse_statement(one) for one in statements]
    assert any(isinstance(one, Query) for one in parsed)
    tried = [text for text, one in zip(statements, parsed, strict=True) if not isinstance(one, Query | Explain)]
    with Client(sql_service.url) as client, pytest.raises(Refused) as refused:
        client.execute("\n".join([*tried, WRONG]))
    assert refused.value.statement == WRONG, refused.value


def test_queries_in_expressions_and_unions_are_answered(sql_service: SqlProcess) -> None:
    """Under names of their own, since other tests make the page's."""
    (block,) = [one for one in sql_blocks() if "UNION SELECT" in one]
    names = {name: f"page_{name}" for name in ("clicks", "users_now", "orders")}
    made = [one for each in sql_blocks() for one in split_statements(each) if re.match(_MADE, one)]
    assert len(made) == len(names) + 1, "with the table that makes the topic of users_now"
    with Client(sql_service.url) as client:
        client.execute(renamed("\n".join(made), {**names, "users": "page_users"}))
        for query in split_statements(block):
            assert list(client.query(renamed(query, names))) == [], query


def renamed(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = re.sub(rf"\b{name}\b", other, text)
    return text


def test_every_part_is_in_the_table_of_contents() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    for title in titles:
        assert f"[{title}](#{title.lower().replace(' ', '-')})" in PAGE
