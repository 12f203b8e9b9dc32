"""`barnabas sql`: statements of a command line, a file or standard input, or a prompt."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from barnabas.cli.command_error import CommandError
from barnabas.cli.key_values import parse_key_values
from barnabas.cli.output import ARROW, FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text

ANSWER_TIMEOUT_S: Final = 660.0
"""A minute more than ASSERT may wait."""
TEST: Final = "test"
"""The word before files of tests: no statement is so short."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = (
        "Run SQL over topics. Without SQL it is a prompt, or reads statements from standard input. "
        "It ends with 0, with 1 when a statement was refused or a test failed, and with 3 when the server cannot be asked "
        "or has ended a query."
    )
    parser.add_argument(
        "sql",
        nargs="*",
        metavar="SQL | test FILE",
        help="statements, each with a semicolon behind it; or the word test, and files or folders of tests, which need no server",
    )
    parser.add_argument("--server", "-s", metavar="URL", help=f"the SQL server; {default_text('sql')}")
    parser.add_argument("--execute", "-e", metavar="SQL", help="the same as SQL without a flag")
    parser.add_argument("--file", "-f", metavar="FILE", help="run the statements of a file, up to the first that fails")
    parser.add_argument(
        "--output",
        "-o",
        choices=(*FORMS, ARROW),
        default=TABLE,
        help=f"form of the output ({TABLE}); rows that come live are lines in json, too; {ARROW} is for one SELECT, SHOW or DESCRIBE",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the session, as auto.offset.reset=earliest; may be repeated",
    )
    parser.add_argument(
        "--schema-registry-url",
        metavar="URL",
        help="of tests with formats that need a registry; without it, one is started when it is needed",
    )


def run(arguments: Namespace) -> int:
    if arguments.sql and arguments.sql[0].lower() == TEST:
        return _run_tests(arguments, arguments.sql[1:])
    if len(arguments.sql) > 1:
        raise CommandError(
            f"{len(arguments.sql)} texts are given, and one is expected", "Put the statements in quotes together.", 2
        )
    url: str = arguments.server or address_of("sql")
    if urlsplit(url).scheme not in ("http", "https"):
        raise CommandError(f"{url!r} is no address of a SQL server", "Write it as http://host:port.", 2)
    _check_packages("httpx", "sqlglot")
    if arguments.output == ARROW and sys.stdout.isatty():
        raise CommandError("a stream of Arrow's is no text for a terminal", "Write it to a file or another program.", 2)
    # The command line of httpx, which is not needed here, loads more than all the rest of it.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    from barnabas.cli.sql.session import SqlSession
    from streams_sql.clients.blocking import Client
    from streams_sql.problem import SqlProblem

    texts = [text for text in (arguments.execute, *arguments.sql) if text is not None]
    is_prompt = not texts and arguments.file is None and sys.stdin.isatty()
    with Client(url, timeout_s=ANSWER_TIMEOUT_S) as client:
        session = SqlSession(client, arguments.output, sys.stdout, is_interactive=is_prompt)
        session.set_properties(parse_key_values(arguments.set))
        if is_prompt:
            from barnabas.cli.sql import prompt

            return prompt.run(session)
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
    from barnabas.cli.sql import testing

    return testing.run(arguments, files)


def _check_packages(*names: str) -> None:
    if any(find_spec(name) is None for name in names):
        raise CommandError("what SQL needs is not installed", "pip install 'barnabas[sql]'")
