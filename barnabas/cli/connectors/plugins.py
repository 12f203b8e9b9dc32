"""`barnabas connectors plugins`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from barnabas.cli import output
from barnabas.cli.connectors.arguments import add_form, add_worker, client_of
from barnabas.cli.connectors.client import PLUGINS, plugin_path_of
from barnabas.cli.output import Column


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    add_form(parser)
    parser.add_argument("plugin", nargs="?", metavar="CLASS", help="its settings, with their meaning")
    parser.add_argument("--all", action="store_true", help="converters, transforms and predicates, too")


def run(arguments: Namespace) -> int:
    client = client_of(arguments)
    if arguments.plugin is None:
        found = client.call("GET", f"{PLUGINS}?connectorsOnly={'false' if arguments.all else 'true'}")
        rows = [(each["class"], each["type"], each.get("version")) for each in found]
        output.write(sys.stdout, arguments.output, [Column("class"), Column("type"), Column("version")], rows)
        return 0
    keys = client.call("GET", plugin_path_of(arguments.plugin, "/config"))
    settings = [
        (
            key["name"],
            key["type"].lower(),
            "required" if key["required"] else key["default_value"],
            key["documentation"],
        )
        for key in keys
    ]
    columns = [Column("setting"), Column("type"), Column("default"), Column("meaning")]
    output.write(sys.stdout, arguments.output, columns, settings)
    return 0
