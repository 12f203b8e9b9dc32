"""Arguments that several commands of a Connect worker have."""

from __future__ import annotations

import argparse

from barnabas.cli.connectors.client import ConnectClient
from barnabas.cli.output import FORMS, TABLE
from barnabas.cli.service_address import address_of, default_text


def add_worker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--connect", metavar="URL", help=f"a Connect worker; {default_text('connect')}")


def client_of(arguments: argparse.Namespace) -> ConnectClient:
    """The client of the worker that the command line names."""
    return ConnectClient(arguments.connect or address_of("connect"))


def add_form(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", "-o", choices=FORMS, default=TABLE, help=f"form of the output ({TABLE})")


def add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="CONNECTOR", help="its name")


def add_yes(parser: argparse.ArgumentParser, note: str = "") -> None:
    parser.add_argument("--yes", "-y", action="store_true", help=f"do not ask{note}")


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="CONNECTOR", help="its name, if the file does not say it")
    parser.add_argument("--file", "-f", metavar="FILE", help="JSON or properties")
    parser.add_argument(
        "--set", "-s", action="append", default=[], metavar="NAME=VALUE", help="a setting; may be repeated"
    )
