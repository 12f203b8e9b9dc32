"""`barnabas serve SERVICE`: one service in this process."""

from __future__ import annotations

import errno
import json
import logging
import os
import signal
import sys
import threading
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from barnabas.cli.platform.setting_arguments import add_metrics_argument, add_setting_arguments, settings_of
from barnabas.kernel import service_runner
from barnabas.kernel.data_directory import DataDirectory
from barnabas.kernel.logging import LogForm, configure, printed
from barnabas.services import BROKER, SERVICES, SQL, Service
from barnabas.supervision import LISTENING

log = logging.getLogger(__name__)

ORPHAN_DEADLINE_S: Final = 2.0
"""How long a service may take to end when its supervisor is gone. The broker of the platform goes at the same time, so that others would
wait in vain for its last word; they lose nothing by ending at once, as after a crash. The broker itself takes the time it needs."""
EXIT_ORPHANED: Final = 1

# Another program listens there, or the address is not one of this machine.
_ADDRESS_REFUSED: Final = (errno.EADDRINUSE, errno.EADDRNOTAVAIL)

# What the programs that our services replace call their files of settings.
_PROPERTIES_FILES: Final = {
    "broker": "Kafka's server.properties",
    "registry": "schema-registry.properties",
    "rest": "kafka-rest.properties",
    "connect": "connect-distributed.properties or connect-standalone.properties",
    "sql": "ksql-server.properties",
}
# Flags of some services that are a short way to write --set; the registry's setting has another name in each.
_FLAG_SETTINGS: Final = {
    "bootstrap_servers": "bootstrap.servers",
    "spark_master": "spark.master",
    "queries_file": "ksql.queries.file",
}
_ANOTHER_FOLDER: Final = (
    "where another broker runs, this one needs a folder of its own, too: --data-dir, or BARNABAS_DATA_DIR"
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.description = "Start one service in this process."
    services = parser.add_subparsers(dest="service", metavar="SERVICE", required=True)
    for service in SERVICES.values():
        one = services.add_parser(service.name, help=service.summary, description=f"Start {service.summary}.")
        add_setting_arguments(one, _PROPERTIES_FILES.get(service.name), serves=True)
        one.add_argument("--listeners", metavar="LIST", help="where to listen; port 0 is any free port")
        if service is BROKER:
            add_metrics_argument(one)
        else:
            one.add_argument("--bootstrap-servers", metavar="LIST", help="brokers of the cluster (127.0.0.1:9092)")
        if service.registry_setting is not None:
            default = "none" if service is SQL else "http://127.0.0.1:8081"
            one.add_argument("--schema-registry-url", metavar="LIST", help=f"the schema registry ({default})")
        if service is SQL:
            one.add_argument("--spark-master", metavar="URL", help="Spark's master (local, four tasks for each core)")
            one.add_argument("--queries-file", metavar="FILE", help="run the statements of a file, and no others")
        one.add_argument("--supervised", action="store_true", help=SUPPRESS)


def run(arguments: Namespace) -> int:
    service = SERVICES[arguments.service]
    given = vars(arguments)
    more = {setting: given.get(flag) for flag, setting in _FLAG_SETTINGS.items()}
    if service.registry_setting is not None:
        more[service.registry_setting] = arguments.schema_registry_url
    return serve(service, settings_of(arguments, more), arguments.config, supervised=arguments.supervised)


def serve(service: Service, flags: dict[str, str], file: Path | None, *, supervised: bool) -> int:
    """Serve until the process is stopped. `supervised`: begin when the supervisor says so on standard input, and stop too when that
    closes, since then the supervisor is gone."""
    missing = service.missing_packages()
    if missing:
        hint = f"pip install 'barnabas[{service.name}]'"
        print(f"barnabas: {service.summary} needs {', '.join(missing)}; {hint}", file=sys.stderr)
        return 1
    if supervised:
        service.program()
        flags = {**flags, **_late_settings()}
    resolved = service.resolve(flags, os.environ, file, platform=supervised)
    settings = resolved.settings
    form = LogForm(settings.text("log.level"), settings.text("log.format"), service.name, among_others=supervised)
    configure(form)
    for remark in settings.remarks:
        log.warning("%s", remark)
    if resolved.data_directory is not None:
        DataDirectory.open(resolved.data_directory)
    if supervised:
        deadline_s = None if service is BROKER else ORPHAN_DEADLINE_S
        watch = threading.Thread(
            target=_stop_when_input_closes, args=(deadline_s,), name="supervisor watch", daemon=True
        )
        watch.start()

    def announce(listeners: Sequence[tuple[str, int]]) -> None:
        addresses = [address(host, port) for host, port in listeners]
        if supervised:
            print(f"{service.name}{LISTENING}{', '.join(addresses)}")
        for line in [] if supervised else addresses:
            print(printed(f"{service.name}{LISTENING}{line}", __name__))
        sys.stdout.flush()

    try:
        return service_runner.run(service.program(), settings.over(service.own_catalogue()), announce)
    except OSError as error:
        if error.errno not in _ADDRESS_REFUSED:
            raise
        log.critical(
            "%s: %s; %s",
            service.name,
            error.strerror,
            _another_address(service, supervised=supervised),
        )
        return 1


def _another_address(service: Service, *, supervised: bool) -> str:
    if supervised:
        setting = "--listeners" if service is BROKER else f"--set {service.name}.listeners=…"
        folder = " --data-dir FOLDER" if service is BROKER else ""
        return f"choose other ports for all services with --ports-from 19000{folder}, or another address for this one with {setting}"
    if service is BROKER:
        return f"choose another address with --listeners, or with the variable BARNABAS_LISTENERS; {_ANOTHER_FOLDER}"
    return f"choose another address with --listeners, or with the variable BARNABAS_{service.name.upper()}_LISTENERS"


def address(host: str, port: int) -> str:
    """Write a host and a port as one word; an IPv6 address stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _late_settings() -> dict[str, str]:
    """What the supervisor sends when the services are ready that this one needs: settings by name, one line of JSON."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            # The supervisor has gone meanwhile.
            sys.exit(0)
        line += piece
    settings: dict[str, str] = json.loads(line)
    return settings


def _stop_when_input_closes(deadline_s: float | None) -> None:
    # Read below sys.stdin: a thread that waits inside its buffer would make the interpreter's exit fail.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    if deadline_s is not None:
        time.sleep(deadline_s)
        # What it has started notices: processes of tasks and of Spark end with theirs. A log line could not be read any more.
        os._exit(EXIT_ORPHANED)
