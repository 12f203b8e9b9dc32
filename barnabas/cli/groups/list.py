"""`barnabas groups list`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Final

from barnabas.cli import output
from barnabas.cli.cluster import connection
from barnabas.cli.cluster.arguments import add_connection, add_form
from barnabas.cli.output import Column
from barnabas.cli.terminal import styles
from barnabas.client.admin.group_admin import GroupAdmin
from barnabas.client.admin.session import Session

_STATE_STYLES: Final = {"Stable": styles.GREEN, "Empty": styles.YELLOW, "Dead": styles.RED}


def add_arguments(parser: ArgumentParser) -> None:
    add_connection(parser)
    add_form(parser)


def run(arguments: Namespace) -> int:
    return connection.run(_list, arguments)


async def _list(session: Session, arguments: Namespace) -> int:
    listed = sorted(await GroupAdmin(session).list_groups(), key=lambda group: group.group_id)
    rows = [(group.group_id, group.type, group.protocol_type, group.state) for group in listed]
    columns = (Column("group"), Column("type"), Column("protocol"), Column("state", _STATE_STYLES.get))
    output.write(sys.stdout, arguments.output, columns, rows)
    return 0
