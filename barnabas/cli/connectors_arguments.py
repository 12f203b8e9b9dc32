"""The command line of `barnabas connectors`. Nothing is imported here that takes time to load."""

from __future__ import annotations

import argparse
from typing import Any, Final

from barnabas.cli.command_parser import add_action, add_report_form, whole_number
from barnabas.cli.output import FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text

WATCH_S: Final = 2


def add_command(commands: Any) -> None:
    about = "list, create, watch, repair and delete connectors"
    parser = commands.add_parser("connectors", help=about, description=f"{about[0].upper()}{about[1:]}.")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_readers(actions)
    _add_writers(actions)
    _add_offsets(actions)
    _add_dead_letters(actions)


def worker_url(arguments: argparse.Namespace) -> str:
    url: str = arguments.connect or address_of("connect")
    return url


def bootstrap_servers(arguments: argparse.Namespace) -> str:
    servers: str = arguments.bootstrap_servers or address_of("broker")
    return servers


def _add_readers(actions: Any) -> None:
    one = _table(actions, "list", "list connectors with state, rate, lag and last error")
    one.add_argument("--watch", "-w", action="store_true", help=f"show it again every {WATCH_S} seconds")
    one = _report(actions, "show", "show a connector: its settings, its tasks, and their errors in full")
    _name(one)
    one.add_argument("--watch", "-w", action="store_true", help=f"show it again every {WATCH_S} seconds")
    one = _table(
        actions, "plugins", "list what connectors, converters and transforms there are, or the settings of one"
    )
    one.add_argument("plugin", nargs="?", metavar="CLASS", help="its settings, with their meaning")
    one.add_argument("--all", action="store_true", help="converters, transforms and predicates, too")


def _add_writers(actions: Any) -> None:
    one = _report(actions, "create", "create a connector; it must not exist")
    _settings(one)
    one.add_argument("--paused", action="store_true", help="do not start it yet")
    one = _report(actions, "apply", "create or change connectors as files say; what is so already stays untouched")
    one.add_argument(
        "--file", "-f", action="append", required=True, metavar="FILE", help="JSON or properties; may be repeated"
    )
    one.add_argument("--dry-run", action="store_true", help="only tell what would change")
    one = _report(actions, "validate", "report everything that is wrong with a connector's settings")
    _settings(one)
    for verb, about in (
        ("pause", "let a connector rest; its tasks stay"),
        ("resume", "let a paused or stopped connector go on"),
        ("stop", "end a connector's tasks; it stays, and its offsets can be changed"),
    ):
        _name(_report(actions, verb, about))
    one = _report(actions, "restart", "restart a connector and its tasks")
    _name(one)
    one.add_argument("--task", type=whole_number(0), metavar="N", help="one task alone")
    one.add_argument("--failed", action="store_true", help="only what has failed")
    one = _report(actions, "delete", "delete a connector; its offsets stay")
    _name(one)
    one.add_argument("--yes", "-y", action="store_true", help="do not ask")


def _add_offsets(actions: Any) -> None:
    one = _action(actions, "offsets", "show, set or forget how far a connector has come")
    one.add_argument("verb", choices=("show", "set", "reset"), help="what to do with them; set and reset ask first")
    _name(one)
    one.add_argument("--file", "-f", metavar="FILE", help="for set: offsets in the form that show -o json prints")
    one.add_argument("--output", "-o", choices=FORMS, default=TABLE, help=f"form of the output ({TABLE})")
    one.add_argument(
        "--yes", "-y", action="store_true", help="do not ask; a connector that runs is stopped and resumed"
    )


def _add_dead_letters(actions: Any) -> None:
    one = _action(
        actions,
        "dlq",
        "look at the dead letters of a connector, or send them to their topics again; replay remembers how far it came "
        "and sends new letters alone",
    )
    one.add_argument("verb", choices=("show", "replay"), help="replay sends them to the topics that they came from")
    _name(one)
    one.add_argument("--limit", "-n", type=whole_number(1), metavar="N", help="the first N alone")
    one.add_argument("--from-offset", type=whole_number(0), metavar="N", help="begin there")
    one.add_argument("--all", action="store_true", help="for replay: also letters that were sent again before")
    one.add_argument("--bootstrap-servers", "-b", metavar="LIST", help=f"brokers; {default_text('broker')}")
    one.add_argument("--output", "-o", choices=FORMS, default=TABLE, help=f"form of the output ({TABLE})")
    one.add_argument("--yes", "-y", action="store_true", help="do not ask")


def _action(actions: Any, name: str, about: str) -> argparse.ArgumentParser:
    parser = add_action(actions, name, about)
    parser.add_argument("--connect", metavar="URL", help=f"a Connect worker; {default_text('connect')}")
    return parser


def _report(actions: Any, name: str, about: str) -> argparse.ArgumentParser:
    parser = _action(actions, name, about)
    add_report_form(parser)
    return parser


def _table(actions: Any, name: str, about: str) -> argparse.ArgumentParser:
    parser = _action(actions, name, about)
    parser.add_argument("--output", "-o", choices=FORMS, default=TABLE, help=f"form of the output ({TABLE})")
    return parser


def _name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="CONNECTOR", help="its name")


def _settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="CONNECTOR", help="its name, if the file does not say it")
    parser.add_argument("--file", "-f", metavar="FILE", help="JSON or properties")
    parser.add_argument(
        "--set", "-s", action="append", default=[], metavar="NAME=VALUE", help="a setting; may be repeated"
    )
