"""`kafka-broker-api-versions`: which versions of which requests each broker serves."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from barnabas.client.admin.session import Node, Session, run
from barnabas.kafka_tools.shell.exits import SUCCESS
from barnabas.kafka_tools.shell.options import OptionParser
from barnabas.kernel.java.kafka_exceptions import described
from barnabas.wire.apis import API_NAMES, known_versions
from barnabas.wire.errors import KafkaError
from barnabas.wire.fields import Versions

PURPOSE: Final = "This tool helps to retrieve broker version information."
# Requests of Java clients that no client of ours sends.
OTHER_APIS: Final = {71: "GetTelemetrySubscriptions", 72: "PushTelemetry"}


def main(arguments: Sequence[str]) -> int:
    parsed = _parser().parse_or_fail(arguments)
    parsed.show_help_or_version(PURPOSE)
    parsed.require("bootstrap-server")
    run(_show(Session.open(parsed.text("bootstrap-server"), parsed.value("command-config"))))
    return SUCCESS


async def _show(session: Session) -> None:
    async with session:
        nodes = (await session.cluster()).nodes
        for node_id in sorted(nodes):
            try:
                served = (await session.connection(node_id)).versions
            except KafkaError as error:
                print(f"{_name(nodes[node_id])} -> ERROR: {described(error)}")
            else:
                print(f"{_name(nodes[node_id])} -> {_table(served)}")


def _name(node: Node) -> str:
    return f"{node.host}:{node.port} (id: {node.id} rack: {node.rack or 'null'} isFenced: false)"


def _table(served: Mapping[int, Versions]) -> str:
    names = API_NAMES | OTHER_APIS
    lines = [_line(key, names.get(key), served.get(key)) for key in sorted({*names, *served})]
    return "(\n\t" + ",\n\t".join(lines) + "\n)"


def _line(key: int, name: str | None, versions: Versions | None) -> str:
    head = f"{name or 'UNKNOWN'}({key}): "
    if versions is None:
        return f"{head}UNSUPPORTED"
    shown = str(versions.low) if versions.low == versions.high else f"{versions.low} to {versions.high}"
    if name is None or key in OTHER_APIS:
        return head + shown
    ours = known_versions(key)
    if ours.high < versions.low:
        return f"{head}{shown} [unusable: node too new]"
    if versions.high < ours.low:
        return f"{head}{shown} [unusable: node too old]"
    return f"{head}{shown} [usable: {min(ours.high, versions.high)}]"


def _parser() -> OptionParser:
    parser = OptionParser()
    parser.takes("command-config", "File with properties of the client.", "command config property file")
    parser.takes("bootstrap-server", "REQUIRED: a broker to begin with.", "server(s) to use for bootstrapping")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
