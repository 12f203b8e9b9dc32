"""The services of the platform, in the order in which they start. A service is named here and loaded when it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, cast

from barnabas.kernel.service_settings import SERVICE_SETTINGS
from barnabas.kernel.settings import Catalogue, Origin, Setting, Settings, Source, resolve

# Called once with the host and port of each listener, when the service answers.
Announce: TypeAlias = Callable[[list[tuple[str, int]]], None]
# Runs a service until it is told to stop, and returns its exit status.
Run: TypeAlias = Callable[[Settings, Announce], int]


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings of a service, and the data directory in which it lies; None where it has a folder of its own."""

    settings: Settings
    data_directory: Path | None


@dataclass(frozen=True, slots=True)
class Service:
    """One service: where its settings and its entry point are, and what we choose for it.

    `folder_settings` name its data folder, the strongest first: when none is given, the first becomes the service's folder in the data
    directory. `chosen` are values that we prefer to the defaults of the catalogue, each with the reason.
    """

    name: str
    summary: str
    catalogue_at: str
    run_at: str
    folder_settings: tuple[str, ...]
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def catalogue(self) -> Catalogue[Setting]:
        """Return every setting of the service, with those that all services share."""
        return SERVICE_SETTINGS | self.own_catalogue()

    def own_catalogue(self) -> Catalogue[Setting]:
        return cast("Catalogue[Setting]", _load(self.catalogue_at))

    def run(self, settings: Settings, announce: Announce) -> int:
        return cast("Run", _load(self.run_at))(settings.over(self.own_catalogue()), announce)

    def resolve(self, flags: Mapping[str, str], environ: Mapping[str, str], file: Path | None) -> Resolved:
        """Read the service's settings, and fill in what follows from our own choices and from the data directory."""
        settings = resolve(self.catalogue(), flags, environ, file)
        for name, (text, reason) in self.chosen.items():
            if not settings.is_given(name):
                value = settings.catalogue[name].parse(text)
                settings = settings.replaced(name, value, Source(Origin.DEFAULT, f"default, {reason}"))
        if not self._lies_in_data_directory(settings):
            return Resolved(settings, None)
        folder = Path(settings.text("data.dir"))
        name = self.folder_settings[0]
        source = settings.source("data.dir")
        value = settings.catalogue[name].parse(str(folder / self.name))
        return Resolved(settings.replaced(name, value, Source(source.origin, f"data.dir, {source}")), folder)

    def _lies_in_data_directory(self, settings: Settings) -> bool:
        """A folder that is named for the service wins, unless data.dir is set closer to the user (a flag over a file)."""
        given = [settings.source(name).origin.value for name in self.folder_settings if settings.is_given(name)]
        return not given or settings.source("data.dir").origin.value > max(given)


def _load(at: str) -> object:
    module, _, attribute = at.partition(":")
    return getattr(import_module(module), attribute)


BROKER = Service(
    name="broker",
    summary="the Kafka broker",
    catalogue_at="core_broker.configs.broker:BROKER_CATALOGUE",
    run_at="core_broker.main:run",
    folder_settings=("log.dirs", "log.dir"),
    # Kafka listens on every interface; without authentication that is for those who ask for it.
    chosen={"listeners": ("PLAINTEXT://127.0.0.1:9092", "this machine only")},
)

SERVICES: Mapping[str, Service] = {service.name: service for service in (BROKER,)}
