"""The command lines of the commands that speak to a cluster. Nothing is imported here that takes time to load."""

from __future__ import annotations

import argparse
from typing import Any, Final

from barnabas.cli import connectors_arguments, schemas_arguments, sql_arguments
from barnabas.cli.command_parser import add_action, add_report_form, whole_number
from barnabas.cli.output import FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text

COMMANDS: Final = ("topics", "produce", "consume", "groups", "configs", "schemas", "connectors", "sql")

Commands = Any  # what argparse calls _SubParsersAction


def add_commands(commands: Commands) -> None:
    _add_topics(commands)
    _add_produce(commands)
    _add_consume(commands)
    _add_groups(commands)
    _add_configs(commands)
    schemas_arguments.add_command(commands)
    connectors_arguments.add_command(commands)
    sql_arguments.add_command(commands)


def _add_topics(commands: Commands) -> None:
    actions = _actions(commands, "topics", "list, describe, create and delete topics")
    one = _action(actions, "list", "list the topics")
    one.add_argument(
        "--internal",
        action="store_true",
        help="show the topics of the broker and the services, too: names that begin with an underscore",
    )
    one = _action(actions, "describe", "show the partitions of a topic")
    _topic(one)
    one = _action(actions, "create", "create a topic")
    _topic(one)
    one.add_argument(
        "--partitions", "-p", type=whole_number(1), metavar="N", help="number of partitions (the broker's default)"
    )
    one.add_argument(
        "--replication-factor",
        type=whole_number(1),
        metavar="N",
        help="copies of each partition (the broker's default)",
    )
    # The second name is that of Kafka's tools.
    one.add_argument(
        "--set", "--config", action="append", default=[], metavar="NAME=VALUE", help="a configuration; may be repeated"
    )
    one = _action(actions, "delete", "delete topics")
    one.add_argument("topics", nargs="+", metavar="TOPIC", help="their names")
    one.add_argument("--yes", "-y", action="store_true", help="do not ask")


def _add_produce(commands: Commands) -> None:
    one = commands.add_parser(
        "produce", help="write records", description="Write lines of standard input, or VALUEs, to a topic."
    )
    _connection(one)
    _topic(one)
    one.add_argument("values", nargs="*", default=[], metavar="VALUE", help="values to write instead of standard input")
    one.add_argument("--file", "-f", metavar="FILE", help="read lines from a file")
    one.add_argument("--key", "-k", metavar="KEY", help="key of every record")
    one.add_argument("--key-separator", "-K", metavar="TEXT", help="what stands between key and value in a line")
    one.add_argument(
        "--header", "-H", action="append", default=[], metavar="NAME=VALUE", help="a header of every record"
    )
    one.add_argument("--partition", "-p", type=whole_number(0), metavar="N", help="partition to write to")
    one.add_argument(
        "--input",
        choices=("lines", "jsonl"),
        default="lines",
        help='what a line is: a value, or {"key": …, "value": …, "headers": {…}}, where a value of null makes a tombstone (lines)',
    )
    one.add_argument(
        "--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), default="none", help="codec (none)"
    )
    one.add_argument("--create", action="store_true", help="let the broker create the topic if it is not there")
    for part in ("value", "key"):
        one.add_argument(
            f"--{part}-schema",
            metavar="SCHEMA",
            help=f"encode {part}s with a schema: an id, SUBJECT, SUBJECT:VERSION or a file, which is registered",
        )
    schemas_arguments.add_registry(one)
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the producer, as linger.ms=0"
    )
    add_report_form(one)


def _add_consume(commands: Commands) -> None:
    one = commands.add_parser("consume", help="read records", description="Read a topic up to its end.")
    _connection(one)
    _topic(one)
    one.add_argument(
        "--from",
        dest="start",
        default="beginning",
        metavar="PLACE",
        help="beginning (earliest), end (latest) or an offset; beginning when left out",
    )
    one.add_argument("--number", "-n", type=whole_number(1), metavar="N", help="end after so many records")
    one.add_argument("--follow", action="store_true", help="do not stop at the end, wait for more")
    one.add_argument("--partition", "-p", type=whole_number(0), metavar="N", help="one partition only")
    one.add_argument("--group", "-g", metavar="GROUP", help="read as a member of a group; goes on until Ctrl-C")
    one.add_argument("--committed", action="store_true", help="leave out records of open and aborted transactions")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the consumer")
    one.add_argument("--raw", action="store_true", help="do not decode with the schemas of the registry")
    schemas_arguments.add_registry(one)
    _form(one)


def _add_groups(commands: Commands) -> None:
    actions = _actions(commands, "groups", "list, describe, reset and delete consumer groups")
    _action(actions, "list", "list the groups")
    one = _action(actions, "describe", "show offsets, lag and members of a group")
    _group(one)
    one = _action(actions, "reset", "move the offsets of a group")
    _group(one)
    one.add_argument(
        "--to",
        required=True,
        metavar="PLACE",
        help="beginning (earliest), end (latest), an offset, or a time: 2026-01-31T12:00",
    )
    one.add_argument("--topic", action="append", default=[], metavar="TOPIC", help="only this topic; may be repeated")
    one.add_argument("--execute", action="store_true", help="do it; without this flag, it is only shown")
    one = _action(actions, "delete", "delete groups and their offsets")
    one.add_argument("groups", nargs="+", metavar="GROUP", help="their names; groups without members alone")


def _add_configs(commands: Commands) -> None:
    actions = _actions(commands, "configs", "describe and change configurations")
    one = _action(actions, "describe", "show what is set")
    _entity(one)
    one.add_argument("--all", "-a", action="store_true", help="show defaults, too")
    one = _action(actions, "set", "set configurations")
    _entity(one)
    one.add_argument("pairs", nargs="+", metavar="NAME=VALUE", help="what to set")
    one = _action(actions, "unset", "return to the defaults")
    _entity(one)
    one.add_argument("names", nargs="+", metavar="CONFIG", help="names of what was set")


def _actions(commands: Commands, name: str, about: str) -> Commands:
    parser = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
    return parser.add_subparsers(dest="action", metavar="ACTION", required=True)


def _action(actions: Commands, name: str, about: str) -> argparse.ArgumentParser:
    parser = add_action(actions, name, about)
    _connection(parser)
    if name in ("list", "describe", "reset"):
        _form(parser)
    else:
        add_report_form(parser)
    return parser


def _connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        "-b",
        default=address_of("broker"),
        metavar="HOST:PORT",
        help=f"a broker to begin with; {default_text('broker')}",
    )
    parser.add_argument("--command-config", metavar="FILE", help="properties of the client")


def _form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", "-o", choices=FORMS, default=TABLE, help="form of the output (table)")


def _topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="its name")


def _group(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", help="its name")


def _entity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("topic", "broker", "group"), help="whose configurations")
    parser.add_argument("name", metavar="NAME", help="of the topic or group; of a broker the number")
