"""Changes of configs that clients ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import BOOLEAN, NAME, STRING, TOPIC_NAME, Shape, closed_object, enum, list_of, nullable
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.kafka.topic_name import invalid_topic
from rest_proxy.v3.members import Members
from rest_proxy.v3.refusals import bad_kafka_request, bad_request

_SET: Final = "SET"
_DELETE: Final = "DELETE"

CONFIG_VALUE: Final = Shape("ConfigValue", closed_object({"value": STRING}))
_CHANGE: Final = Shape(
    "ConfigChange", closed_object({"name": NAME}, {"value": nullable(STRING), "operation": enum(_SET, _DELETE)})
)
CONFIG_CHANGES: Final = Shape("ConfigChanges", closed_object({"data": list_of(_CHANGE)}, {"validate_only": BOOLEAN}))
_TOPIC: Final = Shape("ChangesOfTopic", closed_object({"topic_name": TOPIC_NAME, "configs": list_of(_CHANGE)}))
TOPIC_CONFIG_CHANGES: Final = Shape(
    "TopicConfigChanges", closed_object({"data": list_of(_TOPIC)}, {"validate_only": BOOLEAN})
)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A new value; None: back to the default."""

    name: str
    value: str | None

    def entry(self) -> ConfigEntry:
        operation = AlterConfigOpType.DELETE if self.value is None else AlterConfigOpType.SET
        return ConfigEntry(self.name, self.value or "", incremental_operation=operation)


@dataclass(frozen=True, slots=True)
class ChangeBatch:
    """Changes of one thing that are made all or not at all."""

    changes: tuple[ConfigChange, ...]
    validate_only: bool = False


async def read_value(request: Request, name: str) -> ChangeBatch:
    """The one new value of a PUT."""
    members = await Members.of(request, CONFIG_VALUE)
    return ChangeBatch((ConfigChange(name, _value(members, name)),))


def reset(name: str) -> ChangeBatch:
    return ChangeBatch((ConfigChange(name, None),))


async def read_batch(request: Request) -> ChangeBatch:
    members = await Members.of(request, CONFIG_CHANGES)
    return ChangeBatch(_changes(members, "data"), members.flag("validate_only"))


async def read_topics(request: Request) -> dict[str, ChangeBatch]:
    """The changes of several topics, by their names."""
    members = await Members.of(request, TOPIC_CONFIG_CHANGES)
    validate_only = members.flag("validate_only")
    batches: dict[str, ChangeBatch] = {}
    for entry in members.objects("data", _TOPIC):
        topic = entry.text("topic_name")
        if (failure := invalid_topic(topic)) is not None:
            raise failure
        if topic in batches:
            raise bad_request(f"data has the topic {topic} twice")
        batches[topic] = ChangeBatch(_changes(entry, "configs"), validate_only)
    return batches


async def apply_changes(
    admin: Admin, kind: ResourceType, batches: Mapping[str, ChangeBatch]
) -> dict[str, KafkaFailure]:
    """Make the changes, and return those that the cluster refused, by the names of what was to be changed."""
    resources = [
        ConfigResource(kind, name, incremental_configs=[change.entry() for change in batch.changes])
        for name, batch in batches.items()
        if batch.changes
    ]
    if not resources:
        return {}
    validate_only = any(batch.validate_only for batch in batches.values())
    answers = await admin.each(
        lambda client: client.incremental_alter_configs(
            resources, validate_only=validate_only, request_timeout=REQUEST_TIMEOUT_S
        )
    )
    return {asked.name: answer for asked, answer in answers.items() if isinstance(answer, KafkaFailure)}


async def apply_batch(admin: Admin, kind: ResourceType, name: str, batch: ChangeBatch) -> None:
    """Make changes of one thing; KafkaFailure when the cluster refuses them."""
    for failure in (await apply_changes(admin, kind, {name: batch})).values():
        raise failure


def _changes(members: Members, list_name: str) -> tuple[ConfigChange, ...]:
    changes: dict[str, ConfigChange] = {}
    for entry in members.objects(list_name, _CHANGE):
        name = entry.text("name")
        operation = entry.optional_text("operation") or _SET
        if operation not in (_SET, _DELETE):
            raise bad_request(f"the operation {operation!r} on {name} is neither {_SET} nor {_DELETE}")
        if name in changes:
            raise bad_kafka_request("Error due to duplicate config keys")
        changes[name] = ConfigChange(name, None if operation == _DELETE else _value(entry, name))
    return tuple(changes.values())


def _value(members: Members, name: str) -> str:
    value = members.optional_text("value")
    if value is None:
        raise bad_kafka_request(f"Null value not supported for : {name}")
    return value
