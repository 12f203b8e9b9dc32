"""Arguments that several commands of a cluster have."""

from __future__ import annotations

import argparse

from barnabas.cli.output import FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text


def add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        "-b",
        default=address_of("broker"),
        metavar="HOST:PORT",
        help=f"a broker to begin with; {default_text('broker')}",
    )
    parser.add_argument("--command-config", metavar="FILE", help="properties of the client")


def add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", "-o", choices=FORMS, default=TABLE, help="form of the output (table)")


def add_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="its name")


def add_group(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP", help="its name")


def add_entity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("topic", "broker", "group"), help="whose configurations")
    parser.add_argument("name", metavar="NAME", help="of the topic or group; of a broker the number")
