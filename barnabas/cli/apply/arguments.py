"""The command line of `barnabas apply`. Nothing is imported here that takes time to load."""

from __future__ import annotations

from typing import Any

from barnabas.cli.output import JSON, TABLE
from barnabas.cli.platform_places import add_places


def add_command(commands: Any) -> None:
    parser = commands.add_parser(
        "apply",
        help="make topics, schemas, connectors and SQL what a file says",
        description="Make topics, schemas, connectors and SQL what a YAML file says. What is so already stays untouched.",
    )
    parser.add_argument("--file", "-f", required=True, metavar="FILE", help="YAML; see docs/apply.md")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="only tell what would change: 0 is nothing, 2 is something, 1 is an error",
    )
    parser.add_argument(
        "--prune",
        action="store_true",
        help="delete what an earlier run of this file made and it does not name any more",
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask before something is deleted")
    parser.add_argument("--output", "-o", choices=(TABLE, JSON), default=TABLE, help="form of the output (table)")
    add_places(parser)
