"""docs/sql.md: its statements are ones that the server takes, and its programs run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streams_sql.client import Client, Refused
from streams_sql.language.parsing import parse_statement
from streams_sql.language.splitting import split_statements
from streams_sql.language.statements import Explain, Query
from tests.sql_service import SqlProcess

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text()
URL = "http://127.0.0.1:8088"
EXAMPLE_DEADLINE_S = 60
WRONG = "SHOW NOTHING;"


def blocks(language: str, title: str = "") -> list[str]:
    text = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0] if title else PAGE
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_every_statement_can_be_made(sql_service: SqlProcess) -> None:
    """All of them in one request, with one at its end that is wrong: then nothing is done, but everything has been tried out."""
    statements = [one for block in blocks("sql") for one in split_statements(block)]
    parsed = [parse_statement(one) for one in statements]
    assert any(isinstance(one, Query) for one in parsed)
    tried = [text for text, one in zip(statements, parsed, strict=True) if not isinstance(one, Query | Explain)]
    with Client(sql_service.url) as client, pytest.raises(Refused) as refused:
        client.execute("\n".join([*tried, WRONG]))
    assert refused.value.statement == WRONG, refused.value


def test_the_programs_run(sql_service: SqlProcess, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    scripts = [*blocks("sh", "Over HTTP"), *blocks("sh", "The command")[:1]]
    programs = [([sys.executable, "-"], text) for text in blocks("python")] + [
        (["bash", "-e"], text) for text in scripts
    ]
    printed = []
    for words, text in programs:
        # A prompt needs a terminal, and has tests of its own.
        typed = text.replace(URL, sql_service.url).replace("barnabas sql    ", ": ")
        done = subprocess.run(
            words,
            input=typed,
            capture_output=True,
            text=True,
            timeout=EXAMPLE_DEADLINE_S,
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "KSQL_URL": sql_service.url},
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(done.stdout)
    client, asynchronous, http, command = printed
    year, *rest = re.sub(r"^ada (\d{4}) ", r"\1\n", client).splitlines()
    assert (int(year) >= 2024, rest[:2]) == (True, ["0.10", "1"])
    assert rest[2].startswith("1 8 SELECT column 'PGAE' cannot be resolved. Did you mean PAGE?")
    assert rest[3] == "[0] 1"
    assert asynchronous == "ada\n"
    assert '["ada","/home"]' in http
    assert '{"status":"ok","seq":0}' in http
    assert "VISITS" in command


def test_every_part_is_in_the_table_of_contents() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    for title in titles:
        assert f"[{title}](#{title.lower().replace(' ', '-')})" in PAGE
