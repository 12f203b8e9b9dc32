"""ReplaceField: choosing, leaving out and renaming fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from connect.api.record import Record
from connect.api.settings import setting
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Field, Schema
from connect.data.schema_cache import SchemaCache
from connect.errors import Problem
from connect.transforms.field_path import Path, require_struct
from connect.transforms.field_settings import NullableFieldSettings
from connect.transforms.sided import SidedTransform


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceFieldSettings(NullableFieldSettings):
    exclude: tuple[str, ...] = setting(
        "exclude", "Fields to exclude. This takes precedence over the fields to include.", ()
    )
    include: tuple[str, ...] = setting("include", "Fields to include. If specified, only these fields are used.", ())
    renames: tuple[str, ...] = setting("renames", "Field rename mappings, such as foo:bar,abc:xyz.", ())

    def problems(self) -> Iterator[Problem]:
        yield from self.path_problems("exclude", self.exclude)
        yield from self.path_problems("include", self.include)
        for rename in self.renames:
            former, colon, name = rename.partition(":")
            if not (former.strip() and colon and name.strip()) or ":" in name:
                yield Problem(
                    "renames", f"Invalid rename mapping: {rename}: expected the former name, a colon and the new name"
                )
            else:
                yield from self.path_problems("renames", [former.strip()])


class ReplaceField(SidedTransform):
    """Keeps the fields that are included and not excluded, under their new names."""

    settings_type = ReplaceFieldSettings

    def __init__(self, settings: ReplaceFieldSettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._exclude = frozenset(map(settings.path, settings.exclude))
        self._include = frozenset(map(settings.path, settings.include))
        # To choose a field means to choose the fields that it is in, with nothing else of them.
        self._on_the_way = frozenset(path[:length] for path in self._include for length in range(1, len(path)))
        pairs = (rename.partition(":") for rename in settings.renames)
        self._renames = {settings.path(former.strip()): name.strip() for former, _, name in pairs}
        self._schema = SchemaCache(lambda schema: self._changed_schema(schema, (), chosen=not self._include))

    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue:
        if value is None:
            return SchemaAndValue(schema, value)
        fields = require_struct(value, schema, "field replacement")
        changed = self._changed(fields, schema, (), chosen=not self._include)
        return SchemaAndValue(None if schema is None else self._schema(schema), changed)

    def _keeps(self, path: Path, *, chosen: bool) -> bool:
        return path not in self._exclude and (chosen or path in self._include or path in self._on_the_way)

    def _changed(self, fields: dict[str, Any], schema: Schema | None, at: Path, *, chosen: bool) -> dict[str, Any]:
        names = fields if schema is None else [field.name for field in schema.fields]
        changed = {}
        for name in names:
            path = (*at, name)
            if not self._keeps(path, chosen=chosen):
                continue
            field = None if schema is None else schema.field_of(name)
            item = fields.get(name)
            if (
                item is None
                and field is not None
                and field.schema.has_default
                and self.settings.replace_null_with_default
            ):
                item = field.schema.default
            if isinstance(item, dict) and self._looks_inside(path):
                inside = None if field is None else field.schema
                item = self._changed(item, inside, path, chosen=chosen or path in self._include)
            changed[self._renames.get(path, name)] = item
        return changed

    def _looks_inside(self, path: Path) -> bool:
        length = len(path)
        return any(
            len(other) > length and other[:length] == path
            for paths in (self._include, self._exclude, self._renames)
            for other in paths
        )

    def _changed_schema(self, schema: Schema, at: Path, *, chosen: bool) -> Schema:
        fields = []
        for field in schema.fields:
            path = (*at, field.name)
            if not self._keeps(path, chosen=chosen):
                continue
            inside = field.schema
            if inside.fields and self._looks_inside(path):
                inside = self._changed_schema(inside, path, chosen=chosen or path in self._include)
            fields.append(Field(self._renames.get(path, field.name), inside))
        return replace(schema, fields=tuple(fields))
