"""What the suites say about settings bites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from barnabas.kernel.setting_errors import SettingError
from connect.api.plugin import Plugin
from connect.api.record import Record
from connect.api.settings import setting
from connect.api.sink import Sink
from connect.compliance.sink import SinkCompliance
from tests.connect.compliance.sample_connectors import sink_plugin


@dataclass
class Undocumented:
    size: int = setting("size", "", 1)


@dataclass
class OddlyNamed:
    size: int = setting("the size", "How many.", 1)


@dataclass
class OfEverybody:
    topics: str = setting("topics", "Where from.", "t")


@dataclass
class OutOfBounds:
    size: int = setting("size", "How many.", 0, minimum=1)


@dataclass
class Untidy:
    text: str = setting("text", "What to say.", " blanks around ")


@dataclass
class Loud:
    token: str | None = setting("access.token", "Opens the door.", None)


@dataclass
class Refusing:
    size: int = setting("size", "How many.", 1, minimum=1)
    name: str = setting("name.of.it", "What it is called.", "x")

    def __post_init__(self) -> None:
        self.name = self.name + "!"


def suite_of(declared: type[Any]) -> SinkCompliance:
    class Nothing(Sink[Any]):
        """Takes all."""

        settings_type = declared

        def write(self, records: Sequence[Record]) -> None:
            return

    class Suite(SinkCompliance):
        plugin: Plugin = sink_plugin(Nothing)  # type: ignore[misc]  # a class variable there

        def arrange(self, folder: Path) -> Mapping[str, str]:
            return {}

    return Suite()


def test_what_is_not_said_is_found() -> None:
    for declared, said in (
        (Undocumented, "size has no documentation"),
        (OddlyNamed, "'the size' is no name of a setting"),
        (OfEverybody, "topics is a setting that every connector has"),
    ):
        with pytest.raises(AssertionError, match=said):
            suite_of(declared).test_each_setting_says_what_it_is()


@pytest.mark.parametrize(
    ("declared", "error", "said"),
    [
        (OutOfBounds, SettingError, "expected at least 1"),
        (Untidy, AssertionError, "the default of text is another when it is written out"),
    ],
)
def test_defaults_that_nobody_could_set_are_found(declared: type[Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        suite_of(declared).test_each_default_is_valid()


def test_settings_that_change_on_the_way_are_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        suite_of(Refusing).test_a_configuration_is_the_same_when_it_is_written_out(tmp_path)


def test_secrets_that_are_not_declared_are_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"declare access\.token with secret=True"):
        suite_of(Loud).test_secrets_are_not_told(tmp_path)
