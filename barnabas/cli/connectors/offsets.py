"""`barnabas connectors offsets`: how far a connector has come, changed with a look at what changes."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from barnabas.cli import output
from barnabas.cli.command_error import CommandError
from barnabas.cli.confirmation import confirm
from barnabas.cli.connectors.arguments import add_form, add_name, add_worker, add_yes, client_of
from barnabas.cli.connectors.client import ConnectClient, path_of
from barnabas.cli.output import JSON, TABLE, Column

STOPPED: Final = "STOPPED"
STOP_DEADLINE_S: Final = 60.0
STOP_PAUSE_S: Final = 0.2


def add_arguments(parser: ArgumentParser) -> None:
    add_worker(parser)
    parser.add_argument("verb", choices=("show", "set", "reset"), help="what to do with them; set and reset ask first")
    add_name(parser)
    parser.add_argument("--file", "-f", metavar="FILE", help="for set: offsets in the form that show -o json prints")
    add_form(parser)
    add_yes(parser, "; a connector that runs is stopped and resumed")


def run(arguments: Namespace) -> int:
    return {"show": _show, "set": _set, "reset": _reset}[arguments.verb](client_of(arguments), arguments)


def _show(client: ConnectClient, arguments: Namespace) -> int:
    offsets = _offsets(client, arguments.name)
    if arguments.output == JSON:
        print(json.dumps({"offsets": offsets}, indent=2, ensure_ascii=False))
        return 0
    rows = [(each["partition"], each["offset"]) for each in offsets]
    output.write(sys.stdout, arguments.output, [Column("partition"), Column("offset")], rows)
    if not rows and arguments.output == TABLE:
        print(
            "None are stored yet: that happens every offset.flush.interval.ms of the worker (5 s with `barnabas up`, else a minute), and "
            "when the connector stops.",
            file=sys.stderr,
        )
    return 0


def _set(client: ConnectClient, arguments: Namespace) -> int:
    wanted = _read(arguments.file)
    former = {_key(each["partition"]): each["offset"] for each in _offsets(client, arguments.name)}
    for each in wanted:
        before = former.get(_key(each["partition"]))
        output.say(f"{_flat(each['partition'])}: {_flat(before)} -> {_flat(each['offset'])}", sys.stderr)
    if not arguments.yes:
        confirm(f"set these offsets of {arguments.name}?")
    message = _while_stopped(client, arguments.name, "PATCH", {"offsets": wanted})
    output.report(arguments.output, {"name": arguments.name, "message": message, "offsets": wanted}, message)
    return 0


def _reset(client: ConnectClient, arguments: Namespace) -> int:
    for each in _offsets(client, arguments.name):
        output.say(f"{_flat(each['partition'])}: {_flat(each['offset'])}, to be forgotten", sys.stderr)
    if not arguments.yes:
        confirm(f"let {arguments.name} begin from the start?")
    message = _while_stopped(client, arguments.name, "DELETE", None)
    output.report(arguments.output, {"name": arguments.name, "message": message, "offsets": []}, message)
    return 0


def _while_stopped(client: ConnectClient, name: str, method: str, body: object) -> str:
    """Offsets can be changed of a stopped connector alone; one that ran goes on afterwards, whatever comes of it."""
    state = client.call("GET", path_of(name, "/status"))["connector"]["state"]
    if state != STOPPED:
        client.call("PUT", path_of(name, "/stop"))
    try:
        wait_until_stopped(client, name)
        return str(client.call(method, path_of(name, "/offsets"), body)["message"])
    finally:
        if state != STOPPED:
            client.call("PUT", path_of(name, "/pause" if state == "PAUSED" else "/resume"))


def wait_until_stopped(client: ConnectClient, name: str) -> None:
    deadline_s = time.monotonic() + STOP_DEADLINE_S
    while True:
        status = client.call("GET", path_of(name, "/status"))
        if status["connector"]["state"] == STOPPED and not status["tasks"]:
            return
        if time.monotonic() > deadline_s:
            raise CommandError(f"{name} did not stop within {STOP_DEADLINE_S:.0f} s; its offsets were not changed")
        time.sleep(STOP_PAUSE_S)


def _offsets(client: ConnectClient, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.call("GET", path_of(name, "/offsets"))["offsets"]
    return found


def _read(path: str | None) -> Sequence[dict[str, Any]]:
    if path is None:
        raise CommandError(
            "there are no offsets to set", "Name a file with --file: `offsets show -o json` prints its form.", 2
        )
    try:
        parsed = json.loads(Path(path).read_text(encoding="utf-8"))
        wanted: list[dict[str, Any]] = parsed["offsets"]
        if all({"partition", "offset"} <= each.keys() for each in wanted):
            return wanted
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", "Name a file that can be read.", 2) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    raise CommandError(f'{path}: expected {{"offsets": [{{"partition": {{…}}, "offset": {{…}}}}]}}', status=2)


def _key(partition: Any) -> str:
    return json.dumps(partition, sort_keys=True)


def _flat(value: Any) -> str:
    return "-" if value is None else " ".join(f"{name}={text}" for name, text in value.items())
