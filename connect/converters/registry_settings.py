"""What the converters that use a registry let one set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.serdes.registry_transport import TIMEOUT_DEFAULT_MS, RegistryClientError, RegistryTransport
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.kernel.serdes.subject import SubjectStrategy, strategy_named
from connect.api.settings import Importance, setting
from connect.errors import Problem

_FROM_URL: Final = "URL"
_FROM_SETTING: Final = "USER_INFO"
_TOPIC_NAME_STRATEGY: Final = "io.confluent.kafka.serializers.subject.TopicNameStrategy"


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    url: str = setting(
        "schema.registry.url",
        "The addresses of the schema registry, such as http://127.0.0.1:8081; several are parted by commas.",
        importance=Importance.HIGH,
    )
    credentials_source: str = setting(
        "basic.auth.credentials.source",
        "Where the name and password for the registry stand: in its URL, or in basic.auth.user.info.",
        _FROM_URL,
        choices=(_FROM_URL, _FROM_SETTING),
    )
    user_info: str | None = setting(
        "basic.auth.user.info", "The name and password for the registry, as name:password.", None, secret=True
    )
    registry_user_info: str | None = setting(
        "schema.registry.basic.auth.user.info",
        "The same as basic.auth.user.info, which counts first.",
        None,
        secret=True,
    )
    timeout_ms: int = setting(
        "http.read.timeout.ms", "How long an answer of the registry may take.", TIMEOUT_DEFAULT_MS, minimum=1, unit="ms"
    )
    auto_register: bool = setting(
        "auto.register.schemas", "Register schemas of records that are written, unless the subject has them.", True
    )
    use_latest_version: bool = setting(
        "use.latest.version",
        "Write with the newest schema of the subject. It counts when auto.register.schemas is off.",
        False,
        importance=Importance.LOW,
    )
    use_schema_id: int = setting(
        "use.schema.id",
        "Write with the schema of this id; -1 for none. It counts when auto.register.schemas is off.",
        -1,
        importance=Importance.LOW,
    )
    normalize: bool = setting(
        "normalize.schemas",
        "Let the registry take schemas that differ only in their form for the same.",
        False,
        importance=Importance.LOW,
    )
    key_strategy: str = setting(
        "key.subject.name.strategy", "How the subject of a topic's keys is called.", _TOPIC_NAME_STRATEGY
    )
    value_strategy: str = setting(
        "value.subject.name.strategy", "How the subject of a topic's values is called.", _TOPIC_NAME_STRATEGY
    )
    schemas_cache_size: int = setting(
        "schemas.cache.config", "How many schemas are kept.", 1000, minimum=0, unit="schemas", importance=Importance.LOW
    )

    def problems(self) -> Iterable[Problem]:
        for name, given in (("key", self.key_strategy), ("value", self.value_strategy)):
            try:
                strategy_named(given)
            except SerdesError as error:
                yield Problem(f"{name}.subject.name.strategy", str(error))
        try:
            RegistryTransport(self.url).close()
        except RegistryClientError as error:
            yield Problem("schema.registry.url", error.message)
        if self.credentials_source == _FROM_SETTING and not self.credentials:
            yield Problem(
                "basic.auth.user.info", f"basic.auth.credentials.source is {_FROM_SETTING}, and it is not given"
            )

    @property
    def credentials(self) -> str | None:
        return (self.user_info or self.registry_user_info) if self.credentials_source == _FROM_SETTING else None

    def subject_strategy(self, *, is_key: bool) -> SubjectStrategy:
        return strategy_named(self.key_strategy if is_key else self.value_strategy)
