"""`barnabas sql`: statements of a command line, a file or standard input, or a prompt."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from barnabas.cli.command_error import CommandError
from barnabas.cli.pairs import parse_pairs
from barnabas.cli.sql_arguments import ARROW, server_url, test_files

ANSWER_TIMEOUT_S: Final = 660.0
"""A minute more than ASSERT may wait."""


def run(arguments: Namespace) -> int:
    files = test_files(arguments.sql)
    if files is not None:
        return _run_tests(arguments, files)
    if len(arguments.sql) > 1:
        raise CommandError(
            f"{len(arguments.sql)} texts are given, and one is expected", "Put the statements in quotes together.", 2
        )
    url = server_url(arguments)
    if urlsplit(url).scheme not in ("http", "https"):
        raise CommandError(f"{url!r} is no address of a SQL server", "Write it as http://host:port.", 2)
    _check_packages("httpx", "sqlglot")
    if arguments.output == ARROW and sys.stdout.isatty():
        raise CommandError("a stream of Arrow's is no text for a terminal", "Write it to a file or another program.", 2)
    # The command line of httpx, which nobody asks for here, loads more than all the rest of it.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    from barnabas.cli.sql_session import SqlSession
    from streams_sql.clients.blocking import Client
    from streams_sql.language.problem import SqlProblem

    texts = [text for text in (arguments.execute, *arguments.sql) if text is not None]
    is_prompt = not texts and arguments.file is None and sys.stdin.isatty()
    with Client(url, timeout_s=ANSWER_TIMEOUT_S) as client:
        session = SqlSession(client, arguments.output, sys.stdout, is_interactive=is_prompt)
        session.set_properties(parse_pairs(arguments.set))
        if is_prompt:
            from barnabas.cli import sql_prompt

            return sql_prompt.run(session)
        for text in texts:
            session.run_script(text.splitlines(keepends=True))
        if arguments.file is not None:
            try:
                session.run_file(arguments.file)
            except SqlProblem as problem:
                raise CommandError(problem.message, status=2) from None
        elif not texts:
            session.run_script(sys.stdin)
        session.end()
    return 0


def _run_tests(arguments: Namespace, files: list[str]) -> int:
    _check_packages("sqlglot", "confluent_kafka")
    from barnabas.cli import sql_tests

    return sql_tests.run(arguments, files)


def _check_packages(*names: str) -> None:
    if any(find_spec(name) is None for name in names):
        raise CommandError("what SQL needs is not installed", "pip install 'barnabas[sql]'")
