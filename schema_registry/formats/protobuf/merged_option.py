"""Several statements that set parts of one custom option, as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from schema_registry.formats.protobuf.elements import Field, Label, Message, Option, OptionValue
from schema_registry.formats.protobuf.scope import Scope


def with_message_value(option: Option) -> Option:
    """The option with its path as a message: `(a).b.c = 1` becomes `(a) = {b: {c: 1}}`."""
    return replace(option, value=_message(option.value)) if isinstance(option.value, Option) else option


def _message(path: Option) -> OptionValue:
    return {path.name: _message(path.value) if isinstance(path.value, Option) else path.value}


def merged(options: list[Option], scope: Scope | None = None, field: Field | None = None) -> Option:
    """What options of one name say together. Messages add up; of other values the last one counts.

    `field`: the extension field that the options set, by which repeated parts are told from others. Without it all are repeated.
    """
    first, *more = map(with_message_value, options)
    last = first
    gathered: _Gathered | None = None
    for option in more:
        if isinstance(last.value, Mapping) and isinstance(option.value, Mapping):
            gathered = gathered or _Gathered(scope, field, last.value)
            gathered.add(option.value)
        else:
            gathered = None
        last = option
    return last if gathered is None else replace(last, value=gathered.value())


class _Gathered:
    """A message that grows. Every field of it is a value, a list without repetitions, or a message that grows too."""

    def __init__(self, scope: Scope | None, field: Field | None, first: Mapping[str, OptionValue]) -> None:
        self._scope = scope
        message = _message_type(scope, field)
        self._fields = {one.name: one for one in reversed([*message.all_fields()])} if message is not None else {}
        self._entries: dict[str, OptionValue | _Several | _Gathered] = dict(first)

    def add(self, message: Mapping[str, OptionValue]) -> None:
        for name, value in message.items():
            known = self._entries.get(name)
            self._entries[name] = value if known is None else self._joined(self._fields.get(name), known, value)

    def value(self) -> OptionValue:
        return {
            name: one.value() if isinstance(one, _Several | _Gathered) else one for name, one in self._entries.items()
        }

    def _joined(
        self, field: Field | None, known: OptionValue | _Several | _Gathered, value: OptionValue
    ) -> OptionValue | _Several | _Gathered:
        if field is None or field.label is Label.REPEATED:
            several = known if isinstance(known, _Several) else _Several(_finished(known))
            several.add(value)
            return several
        if not isinstance(value, Mapping) or _message_type(self._scope, field) is None:
            return value
        if isinstance(known, Mapping):
            known = _Gathered(self._scope, field, known)
        if not isinstance(known, _Gathered):
            return value
        known.add(value)
        return known


class _Several:
    """A list in which nothing stands twice."""

    def __init__(self, first: OptionValue) -> None:
        self._values: dict[Hashable, OptionValue] = {}
        self.add(first)

    def add(self, value: OptionValue) -> None:
        for one in value if isinstance(value, tuple) else (value,):
            self._values.setdefault(_identity(one), one)

    def value(self) -> OptionValue:
        return tuple(self._values.values())


def _finished(known: OptionValue | _Gathered) -> OptionValue:
    return known.value() if isinstance(known, _Gathered) else known


def _identity(value: OptionValue) -> Hashable:
    """What equal values have in common; the order of a message's fields is not part of it."""
    if isinstance(value, Option):
        return value.name, value.custom, _identity(value.value)
    if isinstance(value, tuple):
        return tuple(map(_identity, value))
    if isinstance(value, Mapping):
        return frozenset((key, _identity(one)) for key, one in value.items())
    return value


def _message_type(scope: Scope | None, field: Field | None) -> Message | None:
    found = scope.type_named(field.type) if scope is not None and field is not None else None
    return found.element if found is not None and isinstance(found.element, Message) else None


def options_by_name(options: Iterable[Option]) -> dict[str, Option]:
    """Every option once, with all that its statements say."""
    by_name: dict[str, list[Option]] = {}
    for option in options:
        by_name.setdefault(option.name.removeprefix("."), []).append(option)
    return {name: merged(several) for name, several in by_name.items()}
