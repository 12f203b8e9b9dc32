"""The settings of each service, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from barnabas.kernel.environment import OWN_PREFIX
from barnabas.kernel.settings import Setting
from barnabas.reference.markdown import cell, code, page, table
from barnabas.services import BROKER, SERVICES, Service
from core_broker.configs.group_overrides import GROUP_CATALOGUE
from core_broker.configs.setting import BrokerSetting, Effect, GroupSetting, KafkaSetting, TopicSetting, UpdateMode
from core_broker.configs.topics import TOPIC_CATALOGUE

_HEADS: Final = ("setting", "type", "default", "meaning")
_INERT: Final = "Taken, and without an effect"
_REFUSED: Final = "Refused"
_MEMBERS: Final = "Names behind a prefix"
_MEMBERS_MAX: Final = 12
"""Families with more members share a list of their own."""


def service_page(service: Service) -> str:
    """Every setting of a service, those that all services have among them."""
    catalogue = service.catalogue()
    variable = f"{OWN_PREFIX}{'' if service is BROKER else f'{service.name.upper()}_'}LISTENERS"
    introduction = (
        f"`barnabas config {service.name}` shows the values that are in force, and where each comes from. A setting is given as a flag (`--set listeners=…`), "
        f"in the environment (`{variable}`, or `{service.image_prefix}LISTENERS` as the image spells it that this service can take the place of) or in a file: see "
        "[settings](../settings.md)."
    )
    return page(
        f"Settings of {service.summary}", introduction, *_blocks(catalogue.values(), _chosen(service), service.name)
    )


def topic_page() -> str:
    introduction = (
        "A topic has the values that were set when it was made (`barnabas topics create orders --set retention.ms=60000`) or later "
        "(`barnabas configs set topic orders retention.ms=60000`), and those of the broker otherwise."
    )
    groups = "## Of one group\n\nSet with `barnabas configs set group readers consumer.session.timeout.ms=30000`; without it, the broker's."
    return page(
        "Settings of topics and groups",
        introduction,
        "## Of one topic",
        *_blocks(TOPIC_CATALOGUE.values(), {}, "topic"),
        groups,
        *_blocks(GROUP_CATALOGUE.values(), {}, "group"),
    )


def _chosen(service: Service) -> Mapping[str, str]:
    """Values that we prefer to those of the program whose settings these are, with the reason."""
    alone = {name: f"`{value}` ({why})" for name, (value, why) in service.chosen.items()}
    among = {
        name: f", with `barnabas up` `{value}` ({why})" for name, (value, why) in service.chosen_in_platform.items()
    }
    folders = dict.fromkeys(service.folder_settings[:1], f"in the data directory: `{service.name}`")
    return {**alone, **among, **folders}


def _blocks(settings: Iterable[Setting], chosen: Mapping[str, str], owner: str) -> Iterator[str]:
    acting: list[Setting] = []
    idle: dict[str, list[Setting]] = {}
    refused: dict[str, list[Setting]] = {}
    for setting in sorted(settings, key=lambda each: each.name):
        effect = setting.effect if isinstance(setting, KafkaSetting) else Effect.ACTS
        if effect is Effect.REFUSED:
            refused.setdefault(_why(setting), []).append(setting)
        elif effect is Effect.INERT or setting.inert:
            idle.setdefault(_why(setting), []).append(setting)
        else:
            acting.append(setting)
    yield table(_HEADS, [_row(setting, chosen) for setting in acting])
    yield from _member_blocks(acting)
    if idle:
        yield f"### {_INERT}" if owner in ("topic", "group") else f"## {_INERT}"
        yield "So that files and variables of the program whose place it takes can be used as they are. The log names those that were given."
        yield _by_reason(idle)
    if refused:
        yield f"### {_REFUSED}" if owner in ("topic", "group") else f"## {_REFUSED}"
        yield "Another value than the default would promise what does not happen, so it is an error that says why."
        yield _by_reason(refused)


def _member_blocks(settings: Iterable[Setting]) -> Iterator[str]:
    families: dict[frozenset[str], list[str]] = {}
    for setting in settings:
        if len(setting.members) > _MEMBERS_MAX:
            families.setdefault(frozenset(setting.members), []).append(setting.name)
    if families:
        yield f"## {_MEMBERS}"
        for members, prefixes in families.items():
            yield f"In place of the \\* in {', '.join(map(code, prefixes))} stands one of these: {_names(members)}."


def _names(members: Iterable[str]) -> str:
    return ", ".join(code(member) for member in sorted(members))


def _why(setting: Setting) -> str:
    return setting.why if isinstance(setting, KafkaSetting) else setting.inert


def _by_reason(settings: Mapping[str, list[Setting]]) -> str:
    return "\n".join(
        f"- {cell(reason).rstrip('.')}: {', '.join(code(each.name) for each in named)}"
        for reason, named in sorted(settings.items())
    )


def _row(setting: Setting, chosen: Mapping[str, str]) -> tuple[str, str, str, str]:
    kind = f"{setting.kind.value}, {setting.unit}" if setting.unit else setting.kind.value
    default = _default(setting)
    special = chosen.get(setting.name, "")
    if special.startswith(","):
        default += special
    elif special:
        default = special
    return code(setting.name), kind, default, " ".join([cell(setting.doc), *_more(setting)])


def _default(setting: Setting) -> str:
    value = setting.default_value()
    if setting.many or value is None:
        return "none" if not setting.many else ""
    text = setting.display(value) or ""
    return code(text) if text else "empty"


def _more(setting: Setting) -> Iterator[str]:
    """What stands beside the words: which values are allowed, and when it can change."""
    if setting.choices:
        # Some are written down in small letters and in capitals.
        distinct = {choice.lower(): choice for choice in reversed(setting.choices)}
        yield f"One of {', '.join(code(choice) for choice in reversed(distinct.values()))}."
    if len(setting.members) > _MEMBERS_MAX:
        yield f"See [{_MEMBERS.lower()}](#{_MEMBERS.lower().replace(' ', '-')})."
    elif setting.members:
        yield f"In place of the \\*: {_names(setting.members)}."
    limits = [
        f"{word} {number:,.15g}"
        for word, number in (("at least", setting.minimum), ("at most", setting.maximum))
        if number is not None
    ]
    if limits:
        also = f", or {setting.also}" if isinstance(setting, KafkaSetting) and setting.also is not None else ""
        yield f"{', '.join(limits)[:1].upper()}{', '.join(limits)[1:]}{also}."
    if isinstance(setting, BrokerSetting) and setting.mode is not UpdateMode.READ_ONLY:
        yield "Can be changed while the broker runs."
    if isinstance(setting, TopicSetting) and setting.synonyms:
        yield f"Of the broker: {', '.join(code(synonym.name) for synonym in setting.synonyms)}."
    if isinstance(setting, GroupSetting) and setting.synonym:
        yield f"Of the broker: {code(setting.synonym)}."


def pages() -> Mapping[str, str]:
    found = {f"settings-{service.name}.md": service_page(service) for service in SERVICES.values()}
    return {**found, "settings-topics.md": topic_page()}
