"""The services of the platform, in the order in which they start. A service is named here and loaded when it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from barnabas.kernel.environment import CLIENT_VARIABLES, KAFKA_PREFIX
from barnabas.kernel.service_settings import REQUEST_SETTINGS, SERVICE_SETTINGS
from barnabas.kernel.setting_errors import SettingError, refuse
from barnabas.kernel.settings import Catalogue, Origin, Setting, Settings, Source, resolve

if TYPE_CHECKING:
    from barnabas.kernel.service_runner import ServiceProgram


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings of a service, and the data directory in which it lies; None where it has a folder of its own."""

    settings: Settings
    data_directory: Path | None


@dataclass(frozen=True, slots=True)
class Service:
    """One service: where its settings and its entry point are, and what we choose for it.

    `folder_settings` name its data folder, the strongest first: when none is given, the first becomes the service's folder in the data
    directory. `chosen` are values that we prefer to the defaults of the catalogue, each with the reason, and `chosen_in_platform` those
    for a service among the others of `barnabas up`. `image_prefix` begins the environment variables of the container image that it can replace. `packages` are what its extra installs. `broker_setting`,
    `registry_setting` and `connect_setting` are told where the platform's own broker, registry and worker of connectors listen;
    `other_broker_setting` is another name for the first, which wins.
    """

    name: str
    summary: str
    catalogue_at: str
    program_at: str
    folder_settings: tuple[str, ...] = ()
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    chosen_in_platform: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    image_prefix: str = KAFKA_PREFIX
    packages: tuple[str, ...] = ()
    broker_setting: str | None = None
    other_broker_setting: str | None = None
    registry_setting: str | None = None
    connect_setting: str | None = None

    def catalogue(self) -> Catalogue[Setting]:
        """Return every setting of the service, with those that all services share."""
        return SERVICE_SETTINGS | self.own_catalogue()

    def own_catalogue(self) -> Catalogue[Setting]:
        return cast("Catalogue[Setting]", _load(self.catalogue_at))

    def program(self) -> ServiceProgram:
        """Return the service to be run. Importing what it runs on takes most of the time of a start."""
        return cast("ServiceProgram", _load(self.program_at))

    def resolve(
        self, flags: Mapping[str, str], environ: Mapping[str, str], file: Path | None, *, platform: bool = False
    ) -> Resolved:
        """Read the service's settings, and fill in what follows from our own choices and from the data directory.

        In a `platform`, all services read the same flags, variables and file, and find its own broker without a variable for clients.
        """
        if platform:
            environ = {name: text for name, text in environ.items() if name not in CLIENT_VARIABLES}
        catalogue = self.catalogue()
        place = _Placement(self, catalogue, platform=platform).own_name
        settings = resolve(catalogue, flags, environ, file, image_prefix=self.image_prefix, place=place)
        chosen = {**self.chosen, **self.chosen_in_platform} if platform else self.chosen
        for name, (text, reason) in chosen.items():
            if not settings.is_given(name):
                value = settings.catalogue[name].parse(text)
                settings = settings.replaced(name, value, Source(Origin.DEFAULT, f"default, {reason}"))
        if not self.folder_settings or not self._lies_in_data_directory(settings):
            return Resolved(settings, None)
        folder = Path(settings.text("data.dir"))
        name = self.folder_settings[0]
        source = settings.source("data.dir")
        value = settings.catalogue[name].parse(str(folder / self.name))
        return Resolved(settings.replaced(name, value, Source(source.origin, f"data.dir, {source}")), folder)

    def missing_packages(self) -> list[str]:
        """What the service needs and is not installed."""
        return [name for name in self.packages if not _is_installed(name)]

    def knows_broker(self, settings: Settings) -> bool:
        """Whether somebody has named the brokers that it uses."""
        names = (self.broker_setting, self.other_broker_setting)
        return any(name is not None and settings.is_given(name) for name in names)

    def _lies_in_data_directory(self, settings: Settings) -> bool:
        """A folder that is named for the service wins, unless data.dir is set closer to the user (a flag over a file)."""
        given = [settings.source(name).origin.value for name in self.folder_settings if settings.is_given(name)]
        return not given or settings.source("data.dir").origin.value > max(given)


def resolve_all(
    services: Iterable[Service], flags: Mapping[str, str], environ: Mapping[str, str], file: Path | None
) -> dict[str, Resolved]:
    """The settings of the services of a platform, by their names. All mistakes are told at once."""
    found: dict[str, Resolved] = {}
    errors: list[SettingError] = []
    for service in services:
        try:
            found[service.name] = service.resolve(flags, environ, file, platform=True)
        except SettingError as error:
            errors += error.each
    refuse(errors)
    return found


@dataclass(frozen=True, slots=True)
class _Placement:
    """Which names that somebody wrote are meant for a service: `registry.listeners`, or just `listeners` where that is clear."""

    service: Service
    catalogue: Catalogue[Setting]
    platform: bool

    def own_name(self, name: str, origin: Origin) -> str | None:
        prefix = f"{self.service.name}."
        exact = name.removeprefix(prefix)
        # Kafka has names of its own that begin with the broker's, such as broker.id.
        if exact != name and self.catalogue.find(exact) is not None and not self._is_kafkas_name(name):
            return exact
        if self.catalogue.find(name) is not None:
            # All services see the same environment, whether they run in a platform or alone.
            shared = self.platform or origin is Origin.ENVIRONMENT
            return None if shared and self._is_claimed(name) else name
        return None if self._is_known_elsewhere(name) else name

    def _is_kafkas_name(self, name: str) -> bool:
        return self.service is BROKER and self.catalogue.find(name) is not None

    def _is_claimed(self, name: str) -> bool:
        """Where services share names, a plain one means the first service that knows it; what all of them have means all."""
        if SERVICE_SETTINGS.find(name) is not None or any(name == setting.name for setting in REQUEST_SETTINGS):
            return False
        earlier = takewhile(lambda other: other is not self.service, SERVICES.values())
        return any(other.own_catalogue().find(name) is not None for other in earlier)

    def _is_known_elsewhere(self, name: str) -> bool:
        first, _, rest = name.partition(".")
        for other in SERVICES.values():
            catalogue = other.catalogue()
            if catalogue.find(name) is not None or (other.name == first and catalogue.find(rest) is not None):
                return True
        return False


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        # Of `google.protobuf`, `google` is missing already.
        return False


def _load(at: str) -> object:
    module, _, attribute = at.partition(":")
    return getattr(import_module(module), attribute)


BROKER = Service(
    name="broker",
    summary="the Kafka broker",
    catalogue_at="core_broker.configs.broker:BROKER_CATALOGUE",
    program_at="core_broker.main:PROGRAM",
    folder_settings=("log.dirs", "log.dir"),
    # Kafka listens on every interface; without authentication that is for those who ask for it.
    chosen={"listeners": ("PLAINTEXT://127.0.0.1:9092", "this machine only")},
    # The wait is for clusters, in which many members of a group start at once; Kafka's own file for a first try sets it so, too.
    chosen_in_platform={"group.initial.rebalance.delay.ms": ("0", "no cluster")},
)

REGISTRY = Service(
    name="registry",
    summary="the Schema Registry",
    catalogue_at="schema_registry.settings:REGISTRY_CATALOGUE",
    program_at="schema_registry.main:PROGRAM",
    image_prefix="SCHEMA_REGISTRY_",
    packages=("google.protobuf", "granian", "httpx", "jsonschema_rs", "orjson", "starlette"),
    broker_setting="bootstrap.servers",
    other_broker_setting="kafkastore.bootstrap.servers",
)

REST = Service(
    name="rest",
    summary="the REST proxy",
    catalogue_at="rest_proxy.settings:REST_CATALOGUE",
    program_at="rest_proxy.main:PROGRAM",
    image_prefix="KAFKA_REST_",
    packages=("confluent_kafka", "google.protobuf", "granian", "jsonschema_rs", "orjson", "starlette"),
    broker_setting="bootstrap.servers",
    registry_setting="schema.registry.url",
)

CONNECT = Service(
    name="connect",
    summary="the worker of connectors",
    catalogue_at="connect.settings:CONNECT_CATALOGUE",
    program_at="connect.main:PROGRAM",
    image_prefix="CONNECT_",
    # What is read again after a kill is what came since the last commit, and one worker's commits cost next to nothing.
    chosen_in_platform={"offset.flush.interval.ms": ("5000", "one worker")},
    packages=(
        "confluent_kafka",
        "google.protobuf",
        "granian",
        "httpx",
        "jsonschema_rs",
        "orjson",
        "re2",
        "sqlalchemy",
        "starlette",
    ),
    broker_setting="bootstrap.servers",
    registry_setting="schema.registry.url",
)

SQL = Service(
    name="sql",
    summary="SQL over topics",
    catalogue_at="streams_sql.settings:SQL_CATALOGUE",
    program_at="streams_sql.main:PROGRAM",
    folder_settings=("sql.data.dir",),
    image_prefix="KSQL_",
    packages=(
        "confluent_kafka",
        "google.protobuf",
        "granian",
        "h11",
        "httpx",
        "jsonschema_rs",
        "msgspec",
        "numpy",
        "orjson",
        "pandas",
        "pyarrow",
        "pyspark",
        "re2",
        "sqlglot",
        "starlette",
    ),
    broker_setting="bootstrap.servers",
    registry_setting="ksql.schema.registry.url",
    connect_setting="ksql.connect.url",
)

SERVICES: Mapping[str, Service] = {service.name: service for service in (BROKER, REGISTRY, REST, CONNECT, SQL)}
