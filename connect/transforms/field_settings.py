"""Settings that transforms of fields share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connect.api.settings import Importance, setting
from connect.errors import Problem
from connect.transforms.field_path import V1, V2, Path, parse_path


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSettings:
    """With `field.syntax.version` V2, a field's name is a path of names with dots between them."""

    syntax: str = setting(
        "field.syntax.version",
        "How fields are named: V1 takes a dot for a part of the name, V2 for the way into a nested field.",
        V1,
        choices=(V1.lower(), V2.lower()),
        any_case=True,
        importance=Importance.HIGH,
    )

    def path(self, name: str) -> Path:
        return parse_path(name, self.syntax)

    def path_problems(self, setting_name: str, names: Iterable[str]) -> Iterator[Problem]:
        for name in names:
            try:
                self.path(name)
            except ValueError as error:
                yield Problem(setting_name, f"Invalid value {name} for configuration {setting_name}: {error}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NullableFieldSettings(FieldSettings):
    replace_null_with_default: bool = setting(
        "replace.null.with.default",
        "Whether a field that is null and has a default counts as that default.",
        True,
    )
