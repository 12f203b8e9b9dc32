"""Settings: each is declared once, and every value knows where it came from.

A `Setting` is the declaration (Kafka's own name where Kafka has one), a `Catalogue` is the set of names that a service knows, and
`resolve` reads a catalogue's values from flags, environment, a file and the defaults, in this order of precedence.

A name with a `*` declares a whole family: `listener.name.*` stands for every name that begins with `listener.name.`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from barnabas.kernel import environment, properties
from barnabas.kernel.java.numbers import double_text
from barnabas.kernel.setting_errors import SettingError, refuse

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None

MASK = "[hidden]"
NAMES_SUGGESTED = 1
# Below this similarity (0 to 1) a suggestion misleads more than it helps.
SUGGESTION_SIMILARITY = 0.6


class Kind(Enum):
    """The types of Kafka's configuration; the value is the word that messages use."""

    BOOLEAN = "boolean"
    STRING = "string"
    INT = "int"
    SHORT = "short"
    LONG = "long"
    DOUBLE = "double"
    LIST = "list"
    CLASS = "class"
    PASSWORD = "password"  # noqa: S105 - the name of a type


_BITS = {Kind.SHORT: 16, Kind.INT: 32, Kind.LONG: 64}
# An unknown name has no declaration that says whether its value may be shown.
_SOUNDS_SECRET = re.compile("passw|pasw|secret|jaas|token|credential|key", re.IGNORECASE)
# Bounded, since texts come from clients too and Python refuses to convert thousands of digits.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,100}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Setting:
    """One declaration. The default of a LIST is its comma-separated text; None means that there is no value.

    With `any_case`, the choices are in lower case, and a value may be written in any. `members` are the names that may stand for the
    `*` of a family; any may when there are none. `inert` says why a setting that another program has changes nothing here: it is taken
    so that this program's files can be used as they are, and whoever gives it is told.
    """

    name: str
    kind: Kind
    default: bool | int | float | str | None
    doc: str
    unit: str = ""
    secret: bool = False
    choices: tuple[str, ...] = ()
    any_case: bool = False
    minimum: float | None = None
    maximum: float | None = None
    members: frozenset[str] = frozenset()
    inert: str = ""

    @property
    def many(self) -> bool:
        """Whether this declares a family of names."""
        return "*" in self.name

    @property
    def hidden(self) -> bool:
        """Whether values must not be shown."""
        return self.secret or self.kind is Kind.PASSWORD

    def default_value(self) -> Value:
        if self.kind is Kind.LIST and isinstance(self.default, str):
            return _split_list(self.default)
        return self.default

    def parse(self, text: str) -> Value:
        """Return the typed value of `text`, with Kafka's rules for each type."""
        trimmed = text.strip()
        value = self._convert(trimmed)
        self._check(value, trimmed)
        return value

    def format(self, value: Value) -> str | None:
        """Return the text that Kafka prints for a value; None stays None."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        if isinstance(value, float):
            return double_text(value)
        return str(value)

    def display(self, value: Value) -> str | None:
        """Return the text for people: as `format`, with secrets masked."""
        text = self.format(value)
        return MASK if text and self.hidden else text

    def _convert(self, text: str) -> Value:
        if self.kind is Kind.BOOLEAN:
            lowered = text.lower()
            if lowered not in ("true", "false"):
                raise self._refusal(text, "expected true or false")
            return lowered == "true"
        if self.kind in _BITS:
            return self._convert_whole_number(text)
        if self.kind is Kind.DOUBLE:
            if not _NUMBER.fullmatch(text):
                raise self._refusal(text, "expected a number")
            number = float(text)
            if not math.isfinite(number):
                raise self._refusal(text, "is too large for a double")
            return number
        if self.kind is Kind.LIST:
            return _split_list(text)
        return text

    def _convert_whole_number(self, text: str) -> int:
        if not _WHOLE_NUMBER.fullmatch(text):
            raise self._refusal(text, f"expected a whole number{self._unit_note()}")
        number = int(text)
        limit = 1 << (_BITS[self.kind] - 1)
        if not -limit <= number < limit:
            raise self._refusal(text, f"does not fit in {_BITS[self.kind]} bits")
        return number

    def _check(self, value: Value, text: str) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if self.minimum is not None and value < self.minimum:
                raise self._refusal(text, f"expected at least {_plain(self.minimum)}{self._unit_note()}")
            if self.maximum is not None and value > self.maximum:
                raise self._refusal(text, f"expected at most {_plain(self.maximum)}{self._unit_note()}")
        if self.choices:
            for item in value if isinstance(value, tuple) else (str(value),):
                if (item.lower() if self.any_case else item) not in self.choices:
                    raise self._refusal(
                        text, f"expected one of {', '.join(self.choices)}{_did_you_mean(item, self.choices)}"
                    )

    def _unit_note(self) -> str:
        return f" ({self.unit})" if self.unit else ""

    def _refusal(self, text: str, reason: str) -> SettingError:
        return SettingError(self.name, MASK if self.hidden else repr(text), reason)


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",")) if text.strip() else ()


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    # Imported here: a start without mistakes does not pay for it.
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=NAMES_SUGGESTED, cutoff=SUGGESTION_SIMILARITY)
    return f"; did you mean {near[0]}?" if near else ""


SettingT_co = TypeVar("SettingT_co", bound=Setting, covariant=True)
OtherT = TypeVar("OtherT", bound=Setting)


class Catalogue(Mapping[str, SettingT_co], Generic[SettingT_co]):
    """The settings that a service knows, by name. A name of a family finds the family's declaration."""

    def __init__(self, settings: Iterable[SettingT_co]) -> None:
        self._settings: dict[str, SettingT_co] = {}
        self._families: list[tuple[re.Pattern[str], SettingT_co]] = []
        for setting in settings:
            if setting.name in self._settings:
                raise ValueError(f"setting {setting.name} is declared twice")
            self._settings[setting.name] = setting
            if setting.many:
                pattern = "(.+)".join(re.escape(part) for part in setting.name.split("*"))
                self._families.append((re.compile(pattern), setting))

    def find(self, name: str) -> SettingT_co | None:
        """Return the declaration that covers a concrete name, or None."""
        setting = self._settings.get(name)
        if setting is not None and not setting.many:
            return setting
        for pattern, family in self._families:
            found = pattern.fullmatch(name)
            if found is not None and (not family.members or found[1] in family.members):
                return family
        return None

    def require(self, name: str, text: str | None = None) -> SettingT_co:
        """Return the declaration of a name; an unknown one is an error with its value and the nearest valid name."""
        setting = self.find(name)
        if setting is None:
            value = None if text is None else MASK if _SOUNDS_SECRET.search(name) else repr(text)
            raise SettingError(name, value, f"there is no such setting{_did_you_mean(name, self._names())}")
        return setting

    def _names(self) -> list[str]:
        """Every name that could have been meant."""
        members = [setting.name.replace("*", each) for _, setting in self._families for each in setting.members]
        return [*self._settings, *members]

    def __getitem__(self, name: str) -> SettingT_co:
        return self._settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def __or__(self, other: Catalogue[OtherT]) -> Catalogue[SettingT_co | OtherT]:
        return Catalogue([*self.values(), *other.values()])


class Origin(Enum):
    """The kinds of place that a value comes from; a higher rank wins."""

    DEFAULT = 0
    FILE = 1
    ENVIRONMENT = 2
    FLAG = 3


@dataclass(frozen=True, slots=True)
class Source:
    """Where one value stands: the kind of place, and the place itself (`server.properties:12`, a variable's name, a flag)."""

    origin: Origin
    place: str

    def __str__(self) -> str:
        return self.place


DEFAULT_SOURCE = Source(Origin.DEFAULT, "default")


@dataclass(frozen=True, slots=True)
class Given:
    """One value as somebody wrote it down."""

    name: str
    text: str
    source: Source


@dataclass(frozen=True, slots=True)
class Explanation:
    """A row for people: the name, the value with secrets masked (None: no value), and where it came from."""

    name: str
    text: str | None
    source: Source
    setting: Setting


class Settings(Mapping[str, Value]):
    """The resolved values over a catalogue. Families appear with the names that were given."""

    def __init__(
        self,
        catalogue: Catalogue[Setting],
        values: Mapping[str, Value],
        sources: Mapping[str, Source],
        remarks: tuple[str, ...] = (),
    ) -> None:
        self.catalogue = catalogue
        # What the reader should be told although it is no error: a service logs these when it starts.
        self.remarks = remarks
        self._values = dict(values)
        self._sources = dict(sources)

    def __getitem__(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        return self.catalogue.require(name).default_value()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def source(self, name: str) -> Source:
        return self._sources.get(name, DEFAULT_SOURCE)

    def is_given(self, name: str) -> bool:
        """Whether somebody set the value, as opposed to its default."""
        return self.source(name).origin is not Origin.DEFAULT

    def boolean(self, name: str) -> bool:
        return _typed(name, self[name], bool)

    def integer(self, name: str) -> int:
        return _typed(name, self[name], int)

    def number(self, name: str) -> float:
        return _typed(name, self[name], float)

    def text(self, name: str) -> str:
        return _typed(name, self[name], str)

    def items_of(self, name: str) -> tuple[str, ...]:
        return _typed(name, self[name], tuple)

    def integer_or_none(self, name: str) -> int | None:
        return None if self[name] is None else self.integer(name)

    def text_or_none(self, name: str) -> str | None:
        return None if self[name] is None else self.text(name)

    def replaced(self, name: str, value: Value, source: Source) -> Settings:
        """Return a copy with one value replaced."""
        return Settings(self.catalogue, {**self._values, name: value}, {**self._sources, name: source}, self.remarks)

    def over(self, catalogue: Catalogue[Setting]) -> Settings:
        """Return the same values over a smaller catalogue."""
        names = [name for name in self._values if catalogue.find(name) is not None]
        values = {name: self._values[name] for name in names}
        sources = {name: self._sources[name] for name in names if name in self._sources}
        return Settings(catalogue, values, sources, self.remarks)

    def explain(self) -> list[Explanation]:
        """Return a row for each value, by name."""
        rows = []
        for name in sorted(self._values):
            setting = self.catalogue.require(name)
            rows.append(Explanation(name, setting.display(self._values[name]), self.source(name), setting))
        return rows


TypedT = TypeVar("TypedT")


def _typed(name: str, value: Value, expected: type[TypedT]) -> TypedT:
    if not isinstance(value, expected):
        raise TypeError(f"setting {name} is {value!r}, and the caller expects {expected.__name__}")
    return value


def resolve(
    catalogue: Catalogue[Setting],
    flags: Mapping[str, str],
    environ: Mapping[str, str],
    file: Path | None = None,
    *,
    image_prefix: str = environment.KAFKA_PREFIX,
    place: Callable[[str, Origin], str | None] = lambda name, _origin: name,
) -> Settings:
    """Read the values of a catalogue: a flag wins over the environment, that over the file, and that over the default.

    `place` tells the name that a written name has in this catalogue; None when it is meant for another one.
    """
    given = [] if file is None else _read_file(file)
    remarks: list[str] = []
    exact: list[Given] = []
    for variable in environment.setting_variables(environ, image_prefix):
        item = Given(variable.name, variable.text, Source(Origin.ENVIRONMENT, variable.variable))
        if variable.audience is environment.Audience.OURS:
            given.append(item)
        elif catalogue.find(variable.name) is not None:
            exact.append(item)
        elif variable.audience is environment.Audience.IMAGE:
            hint = _did_you_mean(variable.name, catalogue)
            remarks.append(
                f"environment variable {variable.variable} is passed over: there is no setting {variable.name}{hint}"
            )
    flag = Source(Origin.FLAG, "command line")
    given.extend(Given(name, text, flag) for name, text in flags.items())
    return _apply(catalogue, _placed(exact, given, place), remarks)


def _placed(exact: Iterable[Given], given: Iterable[Given], place: Callable[[str, Origin], str | None]) -> list[Given]:
    """The values under their names here; from one kind of place, those that had to be renamed say it more exactly and win."""
    named = [(item, item.name) for item in exact]
    named += [(item, name) for item in given if (name := place(item.name, item.source.origin)) is not None]
    named.sort(key=lambda pair: (pair[0].source.origin.value, pair[0].name != pair[1]))
    return [replace(item, name=name) for item, name in named]


def _apply(catalogue: Catalogue[Setting], given: Iterable[Given], remarks: Iterable[str]) -> Settings:
    """Return the settings that these values make; of two values for one name the later wins."""
    values: dict[str, Value] = {
        name: setting.default_value() for name, setting in catalogue.items() if not setting.many and not setting.inert
    }
    sources: dict[str, Source] = {}
    errors: list[SettingError] = []
    for item in given:
        try:
            setting = catalogue.require(item.name, item.text)
            values[item.name] = setting.parse(item.text)
        except SettingError as error:
            errors.append(SettingError(item.name, error.value, error.reason, item.source.place))
            continue
        sources[item.name] = item.source
    refuse(errors)
    idle = [
        f"{source}: {name} changes nothing: {why}"
        for name, source in sources.items()
        if (why := catalogue.require(name).inert)
    ]
    return Settings(catalogue, values, sources, (*remarks, *idle))


def _read_file(file: Path) -> list[Given]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SettingError(
            "config", repr(str(file)), f"the file cannot be read: {error.strerror}; check its path and its permissions"
        ) from None
    return _read_toml(file, content) if file.suffix == ".toml" else _read_properties(file, content)


def _read_properties(file: Path, content: bytes) -> list[Given]:
    try:
        found = properties.parse(content)
    except properties.PropertiesError as error:
        raise SettingError("config", repr(str(file)), str(error)) from None
    return [Given(item.name, item.text, Source(Origin.FILE, f"{file}:{item.line}")) for item in found]


def _read_toml(file: Path, content: bytes) -> list[Given]:
    import tomllib

    try:
        tables = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError("config", repr(str(file)), f"this is no valid TOML: {error}") from None
    source = Source(Origin.FILE, str(file))
    return [Given(name, text, source) for name, text in _flatten(tables, "", source)]


def _flatten(table: Mapping[str, object], prefix: str, source: Source) -> Iterator[tuple[str, str]]:
    """Yield each value of nested TOML tables under its dotted name, as the text that a properties file would hold."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{name}.", source)
        elif isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
            yield name, ",".join(_toml_text(item) for item in value)
        elif isinstance(value, (str, int, float)):
            yield name, _toml_text(value)
        else:
            raise SettingError(
                name, None, f"expected text, a number, a boolean or a list, not {type(value).__name__}", source.place
            )


def _toml_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
