"""Reconcile the platform with a file: read it, find out what differs, check all of it, and do it."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.cli import output
from barnabas.cli.apply import desired_state, plan
from barnabas.cli.apply.connectors import Connectors, PlannedConnector
from barnabas.cli.apply.desired_state import DesiredState
from barnabas.cli.apply.ownership import TOPIC_NAME, Ownership
from barnabas.cli.apply.plan import CONNECTOR, SCHEMA, SQL, TOPIC, Action, Change
from barnabas.cli.apply.schemas import Schemas
from barnabas.cli.apply.topics import Topics
from barnabas.cli.command_error import CommandError
from barnabas.cli.confirmation import confirm
from barnabas.cli.connectors.client import ConnectClient
from barnabas.cli.output import JSON
from barnabas.cli.platform.addresses import NoPlatform, PlatformAddresses, addresses_of
from barnabas.cli.schemas import registry
from barnabas.cli.service_address import SERVICES

if TYPE_CHECKING:
    from barnabas.cli.apply.sql import SqlStatements

EXIT_CHANGES: Final = 2
SOURCES_TIMEOUT_S: Final = 30.0
"""How long SQL waits for the topics that source connectors make."""
AGAIN_S: Final = 0.5
DONE: Final = {Action.CREATE: "created", Action.CHANGE: "changed", Action.DELETE: "deleted"}
_CHANGING: Final = tuple(DONE)


def reconcile(arguments: Namespace) -> int:
    wanted = desired_state.read(Path(arguments.file), os.environ)
    with _services(addresses_of(arguments), wanted.name) as services:
        return _Run(arguments, wanted, services).run()


class _Services:
    """The clients of what the file needs; those of other services are never opened."""

    def __init__(self, platform: PlatformAddresses, name: str) -> None:
        self._platform = platform
        self._closing: list[Callable[[], None]] = []
        bootstrap = self._address("broker")
        self.topics = Topics(bootstrap)
        self.ownership = Ownership(bootstrap, name)
        self._schemas: Schemas | None = None
        self._connectors: Connectors | None = None
        self._sql: SqlStatements | None = None

    @property
    def schemas(self) -> Schemas:
        if self._schemas is None:
            client = registry.client_of(self._address("registry"))
            self._closing.append(client.close)
            self._schemas = Schemas(client)
        return self._schemas

    @property
    def connectors(self) -> Connectors:
        if self._connectors is None:
            self._connectors = Connectors(ConnectClient(self._address("connect")), self.ownership.record.fingerprints)
        return self._connectors

    @property
    def sql(self) -> SqlStatements:
        if self._sql is None:
            try:
                from barnabas.cli.apply.sql import SqlStatements
                from barnabas.sql import Client
            except ImportError as error:
                raise CommandError(
                    f"SQL needs a package that is missing: {error.name}", "Install it: pip install 'barnabas[sql]'"
                ) from None
            client = Client(self._address("sql"))
            self._closing.append(client.close)
            self._sql = SqlStatements(client)
        return self._sql

    def close(self) -> None:
        for close in self._closing:
            close()

    def _address(self, service: str) -> str:
        found = self._platform.addresses.get(service)
        if found is None:
            flag = "--bootstrap-server HOST:PORT" if service == "broker" else f"--{service} URL"
            named = f"{flag} (or {SERVICES[service][0]})"
            if self._platform.running is None:
                raise NoPlatform(str(self._platform.data_directory), named)
            raise CommandError(
                f"the platform runs without {service}", f"Start it with `barnabas up`, or name one with {named}."
            )
        return found


@contextmanager
def _services(platform: PlatformAddresses, name: str) -> Iterator[_Services]:
    opened = _Services(platform, name)
    try:
        yield opened
    finally:
        opened.close()


class _Run:
    def __init__(self, arguments: Namespace, wanted: DesiredState, services: _Services) -> None:
        self._arguments = arguments
        self._wanted = wanted
        self._services = services
        self._ownership = services.ownership

    def run(self) -> int:
        arguments = self._arguments
        topics, schemas, connectors, sql = self._plan()
        wanted = [*topics, *schemas, *_of(connectors, is_source=True), *sql, *_of(connectors, is_source=False)]
        removals = self._removals(wanted) if arguments.prune else []
        changes = [*wanted, *removals]
        is_refused = any(change.action is Action.REFUSE for change in changes)
        pending = [change for change in changes if change.action in _CHANGING]
        will_apply = not arguments.dry_run and not is_refused
        if not will_apply or arguments.output != JSON:
            self._show(changes, applied=False)
        if is_refused:
            raise CommandError("nothing was changed, since not all of it is possible", "What stands behind ! says why.")
        if arguments.dry_run:
            return EXIT_CHANGES if pending else 0
        if removals and not arguments.yes:
            confirm(f"delete {', '.join([f'{change.kind} {change.name}' for change in removals])}?")
        self._ownership.name(wanted)
        if pending:
            self._apply([*topics, *schemas, *_of(connectors, is_source=True)])
            self._apply(self._sql_again(sql, connectors))
            self._apply([*_of(connectors, is_source=False), *removals])
        self._forget_gone(wanted, removals)
        if arguments.output == JSON:
            self._show(changes, applied=True)
        return 0

    def _plan(self) -> tuple[list[Change], list[Change], list[PlannedConnector], list[Change]]:
        """Everything is looked at before anything is changed."""
        wanted, services = self._wanted, self._services
        if any(topic.name == TOPIC_NAME for topic in wanted.topics):
            raise CommandError(f"{TOPIC_NAME} is where `apply` keeps what it has made", "Leave it out.")
        topics = services.topics.plan(wanted.topics)
        schemas = services.schemas.plan(wanted.schemas) if wanted.schemas else []
        connectors = services.connectors.plan(wanted.connectors) if wanted.connectors else []
        if not wanted.statements:
            return topics, schemas, connectors, []
        new_topics = {change.name for change in topics if change.action is Action.CREATE}
        new_subjects = {change.name.rpartition("-")[0] for change in schemas if change.action in _CHANGING}
        has_sources = any(each.is_source and each.change.action is Action.CREATE for each in connectors)
        return topics, schemas, connectors, self._sql(new_topics | new_subjects, has_sources=has_sources)

    def _sql(self, coming: Collection[str] = (), *, has_sources: bool = False) -> list[Change]:
        # Before the import, since it reports which packages are missing.
        sql = self._services.sql
        from barnabas.cli.apply.sql import Expected

        return sql.plan(self._wanted.statements, Expected(self._services.topics.existing, coming, has_sources))

    def _sql_again(self, planned: Sequence[Change], connectors: Sequence[PlannedConnector]) -> list[Change]:
        """Looked at once more, now that the topics and schemas are there: it is done as a whole or not at all."""
        if not any(change.action in _CHANGING for change in planned):
            return []
        new_source = any(each.is_source and each.change.action is Action.CREATE for each in connectors)
        deadline_s = time.monotonic() + (SOURCES_TIMEOUT_S if new_source else 0)
        while True:
            changes = self._sql()
            reasons = [change.note for change in changes if change.action is Action.REFUSE]
            if not reasons:
                return changes
            if time.monotonic() >= deadline_s:
                raise CommandError("\n".join(reasons), "What stands before SQL in the plan is done; nothing of SQL is.")
            time.sleep(AGAIN_S)

    def _removals(self, wanted: Sequence[Change]) -> list[Change]:
        """In the order in which nothing needs what is gone."""
        named = {
            kind: [change.owned_as for change in wanted if change.kind == kind]
            for kind in (TOPIC, SCHEMA, CONNECTOR, SQL)
        }
        owned = {kind: self._ownership.to_prune(kind, names) for kind, names in named.items()}
        services = self._services
        found: list[Change] = []
        if owned[CONNECTOR]:
            found += services.connectors.removals(owned[CONNECTOR])
        if owned[SQL]:
            found += services.sql.removals(owned[SQL])
        if owned[SCHEMA]:
            found += services.schemas.removals(owned[SCHEMA])
        return [*found, *services.topics.removals(owned[TOPIC])]

    def _forget_gone(self, wanted: Sequence[Change], removals: Sequence[Change]) -> None:
        """What --prune did not find was deleted by another user, and what another file names is that file's from now on."""
        if not self._arguments.prune:
            return
        named = {(change.kind, change.owned_as) for change in wanted}
        for kind, made in list(self._ownership.record.made.items()):
            self._ownership.forget(kind, [name for name in made if (kind, name) not in named])

    def _apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.work is None:
                continue
            try:
                note = change.work()
            except CommandError as error:
                raise CommandError(
                    f"{change.kind} {change.name}: {error}", "What stands before it in the plan is done."
                ) from None
            if change.action is Action.DELETE:
                self._ownership.forget(change.kind, [change.owned_as])
            else:
                self._ownership.keep(change)
            plan.report(f"{DONE[change.action]} {change.kind} {change.name}{f': {note}' if note else ''}")

    def _show(self, changes: Sequence[Change], *, applied: bool) -> None:
        if self._arguments.output != JSON:
            plan.show(sys.stdout, changes)
            sys.stdout.flush()
            return
        found = {action.name.lower(): count for action, count in plan.counts(changes).items()}
        content = {
            "name": self._wanted.name,
            "applied": applied,
            "counts": found,
            "changes": [each.to_json() for each in changes],
        }
        output.write_json(sys.stdout, content)


def _of(connectors: Sequence[PlannedConnector], *, is_source: bool) -> list[Change]:
    return [each.change for each in connectors if each.is_source is is_source]
