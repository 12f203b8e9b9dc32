"""Checking a configuration: every problem at once, each with its setting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final
from unicodedata import category

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import MASK
from connect.api.pattern import InvalidPattern, compiled
from connect.api.plugin import PluginKind
from connect.api.settings import Key, problem_message
from connect.config.definition import CONNECTOR_KINDS, CONVERTERS, Definition, aliases, parsed
from connect.errors import Problem
from connect.plugins.catalogue import Plugins

CONTROL: Final = "Cc"
"""The category of control characters in Unicode."""
_RENAMED: Final = {"blacklist": "exclude", "whitelist": "include"}
"""Words in names that Kafka has given up."""


@dataclass(slots=True)
class Entry:
    """A key, the value that it has, and what is wrong with it."""

    key: Key
    value: str | None
    recommended: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Validation:
    """What became of a configuration. `warnings` are about names that nobody knows."""

    connector_class: str
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()

    @property
    def error_count(self) -> int:
        return sum(len(entry.errors) for entry in self.entries)

    @property
    def errors(self) -> list[str]:
        return [error for entry in self.entries for error in entry.errors]

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(entry.key.group for entry in self.entries if entry.key.group is not None))


def validate(
    plugins: Plugins, config: Mapping[str, str], defaults: Mapping[str, str], live: Iterable[Problem] = ()
) -> Validation:
    """Check a configuration against its definition; UnknownPlugin when its class is none. `live` is what a look at the other side found."""
    connector = plugins.find(config.get("connector.class", ""), CONNECTOR_KINDS)
    definition = Definition(plugins, connector, config, defaults)
    entries = {key.name: _entry(definition, key) for key in definition.all_keys()}
    _add(entries, definition.problems({name for name, entry in entries.items() if entry.errors}))
    _add(entries, _common_problems(connector.kind, config))
    _add(entries, live)
    warnings = [_unknown(name, config, entries) for name in config if name not in entries and not _is_free(name)]
    return Validation(config.get("connector.class", ""), tuple(entries.values()), tuple(warnings))


def _entry(definition: Definition, key: Key) -> Entry:
    entry = Entry(key, None, definition.recommended(key))
    text = definition.config.get(key.name)
    try:
        entry.value = parsed(key, text)
    except SettingError as error:
        entry.value = MASK if text and key.hidden else text
        entry.errors.append(problem_message(error))
    if text is not None:
        problem = definition.plugin_problem(key.name, text)
        if problem is not None:
            entry.errors.append(problem)
    return entry


def _add(entries: dict[str, Entry], problems: Iterable[tuple[str, str]]) -> None:
    for name, message in problems:
        entries[name].errors.append(message)


def _common_problems(kind: PluginKind, config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield from _name_problems(config.get("name"))
    if kind is PluginKind.SINK:
        yield from _topic_problems(config)
    elif config.get("transaction.boundary", "").lower() == "connector":
        yield (
            "transaction.boundary",
            "The connector does not define boundaries of transactions: choose poll or interval",
        )
    for name in ("transforms", "predicates"):
        names = aliases(config, name)
        if len(set(names)) < len(names):
            yield name, f"Invalid value {config[name]} for configuration {name}: a name occurs twice"
    predicates = aliases(config, "predicates")
    for alias in aliases(config, "transforms"):
        predicate = config.get(f"transforms.{alias}.predicate")
        if predicate is not None and predicate not in predicates:
            yield f"transforms.{alias}.predicate", f"Predicate {predicate} is none of predicates={','.join(predicates)}"


def _name_problems(name: str | None) -> Iterator[tuple[str, str]]:
    if name is None:
        # That it is missing is an error of its own.
        return
    if not name.strip():
        yield "name", "Invalid value  for configuration name: String may not be empty"
    codes = [str(ord(letter)) for letter in name if category(letter) == CONTROL]
    if codes:
        reason = f"String may not contain control sequences but had the following ASCII chars: {', '.join(codes)}"
        yield "name", f"Invalid value {name} for configuration name: {reason}"


def _topic_problems(config: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    topics, pattern = config.get("topics", "").strip(), config.get("topics.regex", "").strip()
    if not topics and not pattern:
        for name in ("topics", "topics.regex"):
            yield name, "Must configure one of topics or topics.regex"
    if topics and pattern:
        for name in ("topics", "topics.regex"):
            yield name, "topics and topics.regex are mutually exclusive options, but both are set."
    dead_letters = config.get("errors.deadletterqueue.topic.name", "").strip()
    if dead_letters and dead_letters in aliases(config, "topics"):
        yield (
            "topics",
            f"The DLQ topic '{dead_letters}' may not be included in the list of topics ('topics=[{topics}]') consumed by the connector",
        )
    if pattern:
        yield from _pattern_problems(pattern, dead_letters)


def _pattern_problems(pattern: str, dead_letters: str) -> Iterator[tuple[str, str]]:
    try:
        topics = compiled(pattern)
    except InvalidPattern as problem:
        yield "topics.regex", f"Invalid value {pattern} for configuration topics.regex: Invalid regex: {problem}"
        return
    if dead_letters and topics.fullmatch(dead_letters):
        what = f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics"
        yield "topics.regex", f"{what} ('topics.regex={pattern}') consumed by the connector"


def _is_free(name: str) -> bool:
    """Names that depend on others, and are checked where they are used."""
    return name.startswith("topic.creation.")


def _unknown(name: str, config: Mapping[str, str], entries: Mapping[str, Entry]) -> str:
    renamed = next(
        (new for old, by in _RENAMED.items() if old in name and (new := name.replace(old, by)) in entries), None
    )
    if renamed is not None:
        return f"there is no setting {name}: it is called {renamed}"
    converter = next((each for each in CONVERTERS if name.startswith(f"{each}.")), None)
    if converter is not None and not config.get(converter):
        return f"{name} counts only together with {converter}: without it, the worker's is used, with the worker's settings"
    near = get_close_matches(name, entries, 1)
    return f"there is no setting {name}" + (f"; did you mean {near[0]}?" if near else "")
