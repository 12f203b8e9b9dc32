"""Checking configurations before they are taken."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from connect.cluster.failures import BadRequest, InvalidConfig
from connect.config.secrets import hidden, masked, secret_values
from connect.config.validation import Validation, validate
from connect.errors import ConnectError, Problem
from connect.plugins.catalogue import UnknownPlugin
from connect.tasks.host import CallFailure
from connect.worker.context import CONNECTOR_CLASS, WorkerContext

NAME: Final = "name"
EXACTLY_ONCE: Final = "exactly.once.support"
REQUIRED: Final = "required"

_logger = logging.getLogger(__name__)


class ConfigChecks:
    """A configuration is checked by its declaration, and if that is right by a look at what the connector talks to."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    async def validate(self, config: Mapping[str, str]) -> Validation:
        """Every problem at once. BadRequest when the class is none. What config providers gave is not told."""
        try:
            resolved = self._context.providers.resolve(config)
        except ConnectError as failure:
            raise BadRequest(str(failure)) from None
        validation = self._declared(resolved)
        if not validation.error_count:
            live = [*self._exactly_once(config), *await self._look(config.get(NAME, ""), resolved)]
            if live:
                validation = self._declared(resolved, live)
        self._hide(validation, config, resolved)
        return validation

    async def require(self, config: Mapping[str, str]) -> None:
        """InvalidConfig with everything that is wrong. What nobody knows is told in the log alone."""
        validation = await self.validate(config)
        for warning in validation.warnings:
            _logger.warning("connector %s: %s", config.get(NAME), warning)
        if validation.error_count:
            raise InvalidConfig(
                f"Connector configuration is invalid and contains the following {validation.error_count} error(s):\n"
                + "\n".join(validation.errors)
                + "\nYou can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
            )

    def _declared(self, config: Mapping[str, str], live: Sequence[Problem] = ()) -> Validation:
        if not config.get(CONNECTOR_CLASS):
            raise BadRequest(f"Connector config contains no connector type: set {CONNECTOR_CLASS}")
        try:
            return validate(self._context.plugins, config, self._context.config.properties, live)
        except UnknownPlugin as unknown:
            raise BadRequest(f"{CONNECTOR_CLASS}={config.get(CONNECTOR_CLASS, '')}: {unknown}") from None

    def _exactly_once(self, config: Mapping[str, str]) -> list[Problem]:
        if config.get(EXACTLY_ONCE, "").lower() != REQUIRED or self._context.config.exactly_once_source:
            return []
        return [
            Problem(
                EXACTLY_ONCE,
                "This worker does not have exactly-once source support enabled. "
                "Set exactly.once.source.support=enabled for all workers, or request it only",
            )
        ]

    async def _look(self, name: str, resolved: Mapping[str, str]) -> Sequence[Problem]:
        try:
            return await self._context.host.check(self._context.connector_spec(name, resolved))
        except CallFailure as failure:
            # What failed comes first; where in the code it came up is for the log.
            return [Problem(CONNECTOR_CLASS, str(failure).partition("\n\n")[0])]

    def _hide(self, validation: Validation, config: Mapping[str, str], resolved: Mapping[str, str]) -> None:
        """Nobody is told a secret, or what a reference refers to."""
        shown = masked(self._context.plugins, config)
        secrets = secret_values(self._context.plugins, resolved)
        for entry in validation.entries:
            name = entry.key.name
            if name in config and not config[name] == shown[name] == resolved[name]:
                entry.value = shown[name]
                entry.errors[:] = [error.replace(resolved[name] or shown[name], shown[name]) for error in entry.errors]
            entry.errors[:] = [hidden(error, secrets) for error in entry.errors]
