"""What settings mean together: contradictions are refused, and what one says about another is filled in."""

from __future__ import annotations

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings

_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")


def completed(settings: Settings) -> Settings:
    """The settings of a broker that can start with them; SettingError if they contradict each other."""
    settings = _same_number(settings)
    _check_voters(settings)
    _check_consumer_groups(settings)
    for name in _RETENTION:
        if settings[name] == 0:
            raise SettingError(
                name, "'0'", "records cannot be kept for no time; -1 keeps them for ever", str(settings.source(name))
            )
    return settings


def _same_number(settings: Settings) -> Settings:
    """`node.id` and `broker.id` are two names of one number."""
    node_id, broker_id = settings.integer("node.id"), settings.integer("broker.id")
    if not settings.is_given("broker.id"):
        return settings.replaced("broker.id", node_id, settings.source("node.id"))
    if not settings.is_given("node.id"):
        return settings.replaced("node.id", broker_id, settings.source("broker.id"))
    if node_id != broker_id:
        raise SettingError(
            "broker.id",
            f"'{broker_id}'",
            f"node.id is {node_id}, and both name the same number; remove one of them",
            str(settings.source("broker.id")),
        )
    return settings


def _check_voters(settings: Settings) -> None:
    for voter in settings.items_of("controller.quorum.voters"):
        number = voter.partition("@")[0]
        if number != str(settings.integer("node.id")):
            raise SettingError(
                "controller.quorum.voters",
                f"'{voter}'",
                f"this node is {settings.integer('node.id')}, and it is its own only controller: name it, or nothing",
                str(settings.source("controller.quorum.voters")),
            )


def _check_consumer_groups(settings: Settings) -> None:
    """What members are told lies within the bounds that groups have, and they are heard from before they are given up."""
    for rest in ("heartbeat.interval.ms", "session.timeout.ms"):
        name = f"group.consumer.{rest}"
        low, high = (settings.integer(f"group.consumer.{side}.{rest}") for side in ("min", "max"))
        if not low <= settings.integer(name) <= high:
            raise _contradiction(
                settings, name, f"group.consumer.min.{rest} is {low} and group.consumer.max.{rest} {high}"
            )
    heartbeat_ms = settings.integer("group.consumer.heartbeat.interval.ms")
    if settings.integer("group.consumer.session.timeout.ms") <= heartbeat_ms:
        raise _contradiction(
            settings,
            "group.consumer.session.timeout.ms",
            f"it must be longer than group.consumer.heartbeat.interval.ms, which is {heartbeat_ms}",
        )


def _contradiction(settings: Settings, name: str, reason: str) -> SettingError:
    return SettingError(name, f"'{settings[name]}'", reason, str(settings.source(name)))
