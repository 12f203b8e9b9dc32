"""Values checked against an Avro schema, and made ready for fastavro.

fastavro writes much that is no value of its schema: true as the int 1, a number of 40 bits as an int, nothing as null. It chooses the
branch of a union by trying each, and takes a dict with the key "-type" for its own notation. So values are checked before, and each value of
a union is a pair of its branch and itself, which fastavro takes as it is.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from barnabas.kernel.serdes.avro_form import AvroForm, Wrapping
from barnabas.kernel.serdes.avro_plain import IsPlain, compile_plain
from barnabas.kernel.serdes.avro_types import (
    NO_DEFAULT,
    ArrayType,
    AvroType,
    BranchType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordField,
    RecordType,
    UnionType,
)
from barnabas.kernel.serdes.json_numbers import NOT_FINITE
from barnabas.kernel.serdes.serdes_error import SerdesError, ValueMismatchError

SHOWN_MAX_CHARACTERS: Final = 80
DEFAULTS_MAX: Final = 10_000
"""Inside one default. Records whose fields have defaults multiply them from level to level."""
MISMATCHES_MAX: Final = 100_000
"""Of records with branches of unions, in one value: where both branches of nested unions fit but for the innermost value, each level
doubles the attempts."""

_JSON: Final = json.JSONEncoder(ensure_ascii=False, default=repr)

Fit = Callable[[Any], Any]
"""ValueMismatchError if the value is none of the type."""


def compile_fit(kind: AvroType, form: AvroForm) -> Fit:
    compiler = _Compiler(form)
    fit = compiler.compile(kind)

    def fit_value(value: Any) -> Any:
        compiler.mismatches = 0
        return fit(value)

    return fit_value if compiler.has_choice else fit


class _Compiler:
    def __init__(self, form: AvroForm, *, is_of_defaults: bool = False) -> None:
        self.has_choice = False
        """Whether a record may be tried with several branches of a union."""
        self.mismatches = 0
        self._form = form
        self._is_of_defaults = is_of_defaults
        self._defaults_used = 0
        # A record that holds itself finds here the closure that is still being made.
        self._records: dict[RecordType, Fit] = {}

    def compile(self, kind: AvroType) -> Fit:
        if isinstance(kind, RecordType):
            return self._records.get(kind) or self._record(kind)
        if isinstance(kind, UnionType):
            return self._union(kind)
        if isinstance(kind, ArrayType):
            return _array(self.compile(kind.items))
        if isinstance(kind, MapType):
            return _map(self.compile(kind.values))
        if isinstance(kind, EnumType):
            return _enum(kind)
        fit = _fixed(kind) if isinstance(kind, FixedType) else _PRIMITIVES[kind.name]
        write = self._form.writer(kind)
        return fit if write is None else lambda value: fit(write(value))

    def _record(self, kind: RecordType) -> Fit:
        fields: list[_Field] = []
        fit = self._records[kind] = _record(kind.name, fields, compile_plain(kind, self._form))
        for each in kind.fields:
            fit_field = self.compile(each.type)
            fields.append(_Field(each.name, fit_field, self._default(each, fit_field)))
        return fit

    @cached_property
    def _defaults(self) -> _Compiler:
        """Schemas have defaults as Avro's JSON does, whatever the form of values."""
        return _Compiler(AvroForm(self._form.wrapping), is_of_defaults=True)

    def _default(self, field: RecordField, fit: Fit) -> Callable[[], Any] | None:
        """What stands for a field that is not there."""
        if field.default is NO_DEFAULT:
            return None
        if self._is_of_defaults:
            return lambda: self._default_inside(field, fit)
        return cache(lambda: self._defaults.default(field))

    def default(self, field: RecordField) -> Any:
        self._defaults_used = self.mismatches = 0
        return self.compile(field.type)(field.default)

    def _default_inside(self, field: RecordField, fit: Fit) -> Any:
        self._defaults_used += 1
        if self._defaults_used > DEFAULTS_MAX:
            raise SerdesError(f"the Avro schema has a default that holds more than {DEFAULTS_MAX} others")
        return fit(field.default)

    def _mismatched(self) -> None:
        self.mismatches += 1
        if self.mismatches > MISMATCHES_MAX:
            raise SerdesError(f"the value has records that did not fit {MISMATCHES_MAX} branches of unions")

    def _union(self, kind: UnionType) -> Fit:
        wraps = self._form.wraps(kind)
        branches = [(branch.name, self._branch(branch, wraps=wraps)) for branch in kind.branches]
        by_name = dict(branches) if wraps or self._form.wrapping is not Wrapping.AMBIGUOUS else {}
        by_type = {
            python: [branches[place][1] for place in self._places(kind, python)]
            for python in (type(None), bool, int, float, str, bytes, list, dict)
        }
        self.has_choice |= len(by_type[dict]) > 1
        return _union(by_name, by_type, f"one of {', '.join(name for name, _ in branches)}", self._mismatched)

    def _branch(self, branch: BranchType, *, wraps: bool) -> Fit:
        name, fit = branch.name, self.compile(branch)
        if wraps and name != "null":
            return lambda value: (name, {name: fit(value)})
        return lambda value: (name, fit(value))

    def _places(self, kind: UnionType, python: type) -> list[int]:
        """The branches that may take a value of this type, those that fit it best first; what is written otherwise takes any."""
        kinds = [_kind_name(branch) for branch in kind.branches]
        found = [place for group in _CANDIDATES[python] for place, name in enumerate(kinds) if name in group]
        for place, branch in enumerate(kind.branches):
            converts = isinstance(branch, PrimitiveType | FixedType) and self._form.writer(branch) is not None
            if converts and place not in found and python is not type(None):
                found.append(place)
        return found


class _Field(NamedTuple):
    name: str
    fit: Fit
    default: Callable[[], Any] | None


def _record(record_name: str, fields: Sequence[_Field], is_plain: IsPlain | None) -> Fit:
    def fit(value: Any) -> Any:
        if type(value) is not dict:
            raise _mismatch(value, f"the record {record_name}")
        if is_plain is not None:
            try:
                if is_plain(value):
                    return value
            except KeyError:
                # Defaults come below.
                pass
        found = {}
        name, has_unknown = "", None
        try:
            for name, fit_field, default in fields:
                if name in value:
                    found[name] = fit_field(value[name])
                elif default is not None and has_unknown is False:
                    found[name] = default()
                else:
                    found[name] = _missing(value, default, fields)
                    has_unknown = False
        except ValueMismatchError as error:
            raise error.inside(name) from None
        return found

    return fit


def _missing(value: Mapping[str, Any], default: Callable[[], Any] | None, fields: Sequence[_Field]) -> Any:
    """The default of a field that is not there. Beside a name that the schema does not have, it is taken for a misspelling."""
    unknown = value.keys() - {field.name for field in fields}
    if default is None or unknown:
        seen = f"; the value has {', '.join(sorted(unknown))}, which the schema does not" if unknown else ""
        raise ValueMismatchError(f"the field is missing{'' if unknown else ' and has no default'}{seen}")
    return default()


def _union(
    by_name: Mapping[str, Fit],
    by_type: Mapping[type, Sequence[Fit]],
    expected: str,
    on_mismatch: Callable[[], None],
) -> Fit:
    def fit(value: Any) -> Any:
        if type(value) is dict and len(value) == 1:
            (name,) = value
            named = by_name.get(name)
            if named is not None:
                try:
                    return named(value[name])
                except ValueMismatchError as error:
                    raise error.inside(name) from None
        branches = by_type.get(type(value), ())
        if len(branches) == 1:
            # With one alone to choose from, its own complaint says most.
            return branches[0](value)
        for fit_branch in branches:
            try:
                return fit_branch(value)
            except ValueMismatchError:
                if type(value) is dict:
                    on_mismatch()
        raise _mismatch(value, expected)

    return fit


# For a type of Python, the types of Avro that may take it; numbers go where they fit best, all else by the union's order.
_CANDIDATES: Final[Mapping[type, tuple[tuple[str, ...], ...]]] = {
    type(None): (("null",),),
    bool: (("boolean",),),
    int: (("int",), ("long",), ("double",), ("float",)),
    float: (("double",), ("float",)),
    str: (("string", "enum", "bytes", "fixed"), ("double", "float")),
    bytes: (("bytes", "fixed"),),
    list: (("array",),),
    dict: (("record", "map"),),
}


def _kind_name(branch: BranchType) -> str:
    if isinstance(branch, RecordType):
        return "record"
    if isinstance(branch, EnumType):
        return "enum"
    return "fixed" if isinstance(branch, FixedType) else branch.name


def _array(fit_item: Fit) -> Fit:
    def fit(value: Any) -> Any:
        if type(value) is not list:
            raise _mismatch(value, "an array")
        items: list[Any] = []
        try:
            items.extend(map(fit_item, value))
        except ValueMismatchError as error:
            raise error.inside(f"[{len(items)}]") from None
        return items

    return fit


def _map(fit_item: Fit) -> Fit:
    def fit(value: Any) -> Any:
        if type(value) is not dict:
            raise _mismatch(value, "a map")
        found = {}
        for name, item in value.items():
            _string(name)
            try:
                found[name] = fit_item(item)
            except ValueMismatchError as error:
                raise error.inside(f"[{name!r}]") from None
        return found

    return fit


def _enum(kind: EnumType) -> Fit:
    symbols = frozenset(kind.symbols)

    def fit(value: Any) -> Any:
        if type(value) is not str or value not in symbols:
            raise _mismatch(value, f"a symbol of {kind.name}: {', '.join(kind.symbols)}")
        return value

    return fit


def _fixed(kind: FixedType) -> Fit:
    def fit(value: Any) -> Any:
        data = _bytes(value)
        if len(data) != kind.size:
            raise ValueMismatchError(f"{kind.name} has {kind.size} bytes, this has {len(data)}")
        return data

    return fit


def _null(value: Any) -> Any:
    if value is not None:
        raise _mismatch(value, "null")


def _boolean(value: Any) -> Any:
    if type(value) is not bool:
        raise _mismatch(value, "a boolean")
    return value


def _whole(bits: int, expected: str) -> Fit:
    limit = 1 << bits - 1

    def fit(value: Any) -> Any:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not -limit <= value < limit:
            raise _mismatch(value, expected)
        return value

    return fit


def _floating(layout: struct.Struct, name: str) -> Fit:
    def fit(value: Any) -> Any:
        if type(value) is str:
            value = NOT_FINITE.get(value, value)
        if type(value) is not float and type(value) is not int:
            raise _mismatch(value, f"a {name}")
        try:
            layout.pack(value)
        except (OverflowError, struct.error):
            raise _mismatch(value, f"a {name}, in whose range it is") from None
        return value

    return fit


def _string(value: Any) -> Any:
    if type(value) is not str:
        raise _mismatch(value, "a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _mismatch(value, "a string without halves of surrogate pairs") from None
    return value


def _bytes(value: Any) -> Any:
    """Bytes, or, as defaults and Avro's JSON encoding have them, a text in which each character stands for the byte of its number."""
    if type(value) is bytes:
        return value
    try:
        if type(value) is str:
            return value.encode("latin-1")
    except UnicodeEncodeError:
        pass
    raise _mismatch(value, "bytes, written as a string of characters up to U+00FF")


def _mismatch(value: Any, expected: str) -> ValueMismatchError:
    return ValueMismatchError(f"{_shown(value)} is not {expected}")


def _shown(value: Any) -> str:
    """The beginning of a value. No more of it is looked at, since it may be large."""
    shown = ""
    try:
        # Values come from JSON, so that null is the word for them, not None.
        for piece in [repr(value[: SHOWN_MAX_CHARACTERS + 1])] if type(value) is str else _JSON.iterencode(value):
            shown += piece
            if len(shown) > SHOWN_MAX_CHARACTERS:
                return shown[:SHOWN_MAX_CHARACTERS] + "…"
    except ValueError:
        # A number of more digits than Python writes, or a value that holds itself.
        return f"{shown}…"
    return shown


_PRIMITIVES: Final[Mapping[str, Fit]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _whole(32, "an int of 32 bits"),
    "long": _whole(64, "a long of 64 bits"),
    "float": _floating(struct.Struct("<f"), "float"),
    "double": _floating(struct.Struct("<d"), "double"),
    "string": _string,
    "bytes": _bytes,
}
