"""The command line of `barnabas sql`. Nothing is imported here that takes time to load."""

from __future__ import annotations

import argparse
from typing import Any, Final

from barnabas.cli.output import FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text

ARROW: Final = "arrow"
"""The form of rows as a stream of Arrow's, for programs that read it."""
TEST: Final = "test"
"""The word before files of tests: no statement is so short."""


def add_command(commands: Any) -> None:
    parser = commands.add_parser(
        "sql",
        help="run SQL over topics: statements, queries, a prompt, tests",
        description="Run SQL over topics. Without SQL it is a prompt, or reads statements from standard input. "
        "It ends with 0, with 1 when a statement was refused or a test failed, and with 3 when the server cannot be asked "
        "or has ended a query.",
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


def test_files(words: list[str]) -> list[str] | None:
    """The files of `test FILE…`; None where it is statements that are given."""
    return words[1:] if words and words[0].lower() == TEST else None


def server_url(arguments: argparse.Namespace) -> str:
    url: str = arguments.server or address_of("sql")
    return url
