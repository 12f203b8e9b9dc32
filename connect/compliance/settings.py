"""What holds for the settings of every connector, whether it reads or writes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from barnabas.kernel.settings import MASK, Kind
from connect.api.plugin import Plugin
from connect.api.settings import Key, keys_of, read, texts_of
from connect.config.connector_keys import CONNECTOR_KEYS
from connect.config.secrets import masked
from connect.errors import InvalidSettings
from connect.plugins.catalogue import Plugins

SAMPLE_SECRET: Final = "the-secret-of-the-compliance-suite"  # noqa: S105 - it opens nothing
NONSENSE: Final = "neither a number nor one of the choices"
_NUMBERS: Final = (Kind.INT, Kind.SHORT, Kind.LONG, Kind.DOUBLE)
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+\*?")
_SOUNDS_SECRET: Final = re.compile(r"(passw|secret|token|credential|api\.?key)[a-z]*$")


class SettingsCompliance(ABC):
    """Inherited by the suites for sources and sinks. `config` is what every test sets, beside what `arrange` returns."""

    plugin: ClassVar[Plugin]
    config: ClassVar[Mapping[str, str]] = {}
    not_secret: ClassVar[frozenset[str]] = frozenset()
    """Settings that may be shown, although their names sound otherwise."""

    @abstractmethod
    def complete(self, folder: Path) -> dict[str, str]:
        """A configuration with which the connector works."""

    def make(self, config: Mapping[str, str]) -> Any:
        """The connector of a configuration, as a task makes it."""
        return self.plugin.made_by(read(self.plugin.settings_type, config))

    def keys(self) -> list[Key]:
        return list(keys_of(self.plugin.settings_type).values())

    def test_each_setting_says_what_it_is(self) -> None:
        taken = {key.name for key in CONNECTOR_KEYS[self.plugin.kind]}
        for key in self.keys():
            assert _NAME.fullmatch(key.name), f"{key.name!r} is no name of a setting: letters, digits, dots, dashes"
            assert key.doc.strip(), f"{key.name} has no documentation"
            assert key.name not in taken, f"{key.name} is a setting that every connector has: choose another name"
        assert self.plugin.doc.strip(), (
            f"{self.plugin.name} has no documentation: give its class or function a docstring"
        )

    def test_each_default_is_valid(self) -> None:
        for key in self.keys():
            default = key.default_value()
            text = key.format(default)
            if text is not None:
                assert key.parse(text) == default, f"the default of {key.name} is another when it is written out"

    def test_a_configuration_is_the_same_when_it_is_written_out(self, tmp_path: Path) -> None:
        settings = read(self.plugin.settings_type, self.complete(tmp_path))
        assert read(self.plugin.settings_type, texts_of(settings)) == settings

    def test_what_is_wrong_is_named(self, tmp_path: Path) -> None:
        config = self.complete(tmp_path)
        for key in self.keys():
            for text in _wrong_texts(key):
                named = self._problems({**config, key.name: text})
                assert key.name in named, f"{key.name}={text} is wrong, and the problems are {named or 'none'}"

    def test_everything_that_is_missing_is_named_at_once(self) -> None:
        required = {key.name for key in self.keys() if key.required}
        named = self._problems({})
        assert required <= named.keys(), f"nothing tells that {required - named.keys()} must be given"

    def test_secrets_are_not_told(self, tmp_path: Path) -> None:
        for key in self.keys():
            is_secret = key.hidden or key.name in self.not_secret or key.kind in (*_NUMBERS, Kind.BOOLEAN)
            assert is_secret or not _SOUNDS_SECRET.search(key.name), f"declare {key.name} with secret=True"
        secrets = {key.name: SAMPLE_SECRET for key in self.keys() if key.hidden and not key.many and not key.choices}
        config = {**self.complete(tmp_path), **secrets}
        shown = masked(Plugins([self.plugin]), {**config, "connector.class": self.plugin.class_name})
        assert {shown[name] for name in secrets} <= {MASK}, "REST would tell a secret"
        told = f"{read(self.plugin.settings_type, config)!r} {self._problems({'': '', **secrets})}"
        assert SAMPLE_SECRET not in told, "the text of the settings, or of what is wrong with them, tells a secret"

    def _problems(self, config: Mapping[str, str]) -> dict[str, str]:
        try:
            read(self.plugin.settings_type, config)
        except InvalidSettings as invalid:
            return {problem.name: problem.message for problem in invalid.problems}
        return {}


def _wrong_texts(key: Key) -> Iterator[str]:
    if key.many:
        return
    if key.kind in _NUMBERS or key.kind is Kind.BOOLEAN or key.choices:
        yield NONSENSE
    if key.minimum is not None:
        yield str(int(key.minimum) - 1)
    if key.maximum is not None:
        yield str(int(key.maximum) + 1)
