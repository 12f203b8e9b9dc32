"""Settings of connectors, converters and transforms: a dataclass whose fields say everything about them.

From the one declaration follow the definitions that REST tells, validation, the typed values that the connector reads, and its documentation.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Final, TypeVar, Union

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Catalogue, Kind, Setting
from connect.errors import InvalidSettings, Problem


class Importance(Enum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(Enum):
    """How wide a form should show the value."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Setting):
    """A setting of a connector: what all settings are, and how forms show it. No default and `required`: it must be given."""

    required: bool = False
    importance: Importance = Importance.MEDIUM
    group: str | None = None
    order: int = -1
    width: Width = Width.NONE
    title: str = ""
    dependents: tuple[str, ...] = ()

    def meaning(self, mark: str = "") -> str:
        """What it is for, and what values it may have; the mark stands around each of them."""
        choices = ", ".join(f"{mark}{choice}{mark}" for choice in self.choices)
        limits = (("at least", self.minimum), ("at most", self.maximum))
        bounds = " and ".join(f"{words} {limit:g}" for words, limit in limits if limit is not None)
        return self.doc + (f" One of {choices}." if choices else "") + (f" Must be {bounds}." if bounds else "")


_KEY: Final = "connect.key"
_KINDS: Final[Mapping[object, Kind]] = {
    str: Kind.STRING, bool: Kind.BOOLEAN, int: Kind.INT, float: Kind.DOUBLE, tuple[str, ...]: Kind.LIST
}  # fmt: skip
REQUIRED: Final = dataclasses.MISSING


def setting(
    name: str,
    doc: str,
    default: Any = REQUIRED,
    *,
    kind: Kind | None = None,
    unit: str = "",
    secret: bool = False,
    choices: tuple[str, ...] = (),
    any_case: bool = False,
    minimum: float | None = None,
    maximum: float | None = None,
    importance: Importance = Importance.MEDIUM,
    group: str | None = None,
    order: int = -1,
    width: Width = Width.NONE,
    title: str = "",
    dependents: tuple[str, ...] = (),
) -> Any:
    """Declare a field of a settings class under the name that configurations use.

    A name that ends with `.*` collects every setting that begins so and is not declared by itself; its field is a mapping from the rest
    of the name to the text.
    The kind follows from the field's type (`str`, `int`, `float`, `bool`, `tuple[str, ...]`, or one of them and None), unless it is given.
    """
    declared = Key(
        name=name,
        kind=kind or (Kind.PASSWORD if secret else Kind.STRING),
        default=None if default is REQUIRED else _plain(default),
        doc=doc,
        unit=unit,
        secret=secret,
        choices=choices,
        any_case=any_case,
        minimum=minimum,
        maximum=maximum,
        required=default is REQUIRED and not name.endswith("*"),
        importance=importance,
        group=group,
        order=order,
        width=width,
        title=title or name,
        dependents=dependents,
    )
    metadata = {_KEY: (declared, kind is None and not secret)}
    if name.endswith("*"):
        return dataclasses.field(default_factory=dict, metadata=metadata, kw_only=True, repr=not declared.hidden)
    return dataclasses.field(default=default, metadata=metadata, kw_only=True, repr=not declared.hidden)


def _plain(default: Any) -> Any:
    return ",".join(default) if isinstance(default, tuple) else default


def keys_of(settings_type: type[Any]) -> Catalogue[Key]:
    """The declarations of a settings class, in the order of its fields."""
    declared: Any = settings_type
    return Catalogue([key for _, key in _fields(declared)])


@cache
def _fields(settings_type: Any) -> tuple[tuple[str, Key], ...]:
    types = typing.get_type_hints(settings_type)
    found = []
    for each in dataclasses.fields(settings_type):
        if _KEY not in each.metadata:
            continue
        key, follows_type = each.metadata[_KEY]
        if follows_type and not key.many:
            key = dataclasses.replace(key, kind=_kind(settings_type, each.name, types[each.name]))
        found.append((each.name, key))
    return tuple(found)


def _kind(settings_type: type[Any], name: str, annotation: Any) -> Kind:
    if typing.get_origin(annotation) in (Union, UnionType):
        (annotation,) = (part for part in typing.get_args(annotation) if part is not type(None))
    try:
        return _KINDS[annotation]
    except KeyError:
        raise TypeError(
            f"{settings_type.__name__}.{name} is {annotation}: say its kind, since no setting is so"
        ) from None


SettingsT = TypeVar("SettingsT")


def read(settings_type: type[SettingsT], config: Mapping[str, str | None]) -> SettingsT:
    """The typed settings of a configuration; InvalidSettings with everything that is wrong. Names that are not declared are passed over."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    declared: Any = settings_type
    fields = _fields(declared)
    names = {key.name for _, key in fields}
    for field_name, key in fields:
        try:
            values[field_name] = _family(key, config, names) if key.many else _value(key, config)
        except SettingError as error:
            problems.append(Problem(key.name, problem_message(error)))
    if not problems:
        settings = settings_type(**values)
        problems += checked(settings)
        if not problems:
            return settings
    raise InvalidSettings(problems)


def texts_of(settings: Any) -> dict[str, str]:
    """The configuration that says all of these settings; what has no value is left out."""
    texts: dict[str, str] = {}
    declared: Any = type(settings)
    for field_name, key in _fields(declared):
        value = getattr(settings, field_name)
        if key.many:
            texts |= {key.name.removesuffix("*") + name: text for name, text in value.items()}
        elif (text := key.format(value)) is not None:
            texts[key.name] = text
    return texts


def checked(settings: object) -> Iterable[Problem]:
    """What a settings class says about values that do not fit together, in its method `problems`, if it has one."""
    problems = getattr(settings, "problems", None)
    return () if problems is None else problems()


def problem_message(error: SettingError) -> str:
    """Say it as Kafka's validation does, and why."""
    if error.value is None:
        return f'Missing required configuration "{error.name}" which has no default value.'
    return f"Invalid value {error.value} for configuration {error.name}: {error.reason}"


def _family(key: Key, config: Mapping[str, str | None], declared: Container[str]) -> dict[str, str | None]:
    prefix = key.name.removesuffix("*")
    given = [name for name in config if name.startswith(prefix) and name not in declared]
    return {name[len(prefix) :]: config[name] for name in given}


def _value(key: Key, config: Mapping[str, str | None]) -> Any:
    text = config.get(key.name)
    if text is not None:
        return key.parse(text)
    if key.required:
        raise SettingError(key.name, None, "it must be given")
    return key.default_value()
