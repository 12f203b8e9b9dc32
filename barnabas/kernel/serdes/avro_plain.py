"""Records whose fields are primitive, with or without null: nearly all that are written, and fastavro takes them as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.kernel.serdes.avro_form import AvroForm
from barnabas.kernel.serdes.avro_types import AvroType, PrimitiveType, RecordType, UnionType
from barnabas.kernel.serdes.json_numbers import FLOAT_MAX

IsPlain = Callable[[Mapping[str, Any]], bool]
"""KeyError where a field is missing. False where a value needs a closer look."""

FIELDS_MAX: Final = 200
"""Longer functions would be slow to make."""

_CHECKS: Final = {
    "null": "v is None",
    "boolean": "type(v) is bool",
    "int": f"type(v) is int and {-(2**31)} <= v < {2**31}",
    "long": f"type(v) is int and {-(2**63)} <= v < {2**63}",
    "float": f"type(v) is float and {-FLOAT_MAX!r} <= v <= {FLOAT_MAX!r}",
    "double": "type(v) is float",
    "string": "type(v) is str and v.isascii()",
    "bytes": "type(v) is bytes",
}


def compile_plain(kind: RecordType, form: AvroForm) -> IsPlain | None:
    """What recognises such values of a record at a glance; None where its fields are not like that."""
    checks = [_check(each.type, form) for each in kind.fields]
    if not 0 < len(checks) <= FIELDS_MAX or None in checks:
        return None
    lines = [
        f"    v = value[{each.name!r}]\n    if not ({check}): return False\n"
        for each, check in zip(kind.fields, checks, strict=True)
    ]
    names: dict[str, Any] = {}
    exec(f"def is_plain(value):\n{''.join(lines)}    return True\n", names)  # noqa: S102 - of the schema, it holds names as literals
    is_plain: IsPlain = names["is_plain"]
    return is_plain


def _check(kind: AvroType, form: AvroForm) -> str | None:
    if isinstance(kind, PrimitiveType):
        return None if form.writer(kind) is not None else _CHECKS[kind.name]
    if not isinstance(kind, UnionType) or form.wraps(kind):
        return None
    # With one type beside null, fastavro cannot choose another branch than the right one.
    given = [branch for branch in kind.branches if branch.name != "null"]
    if len(given) != 1 or len(kind.branches) != 2:
        return None
    check = _check(given[0], form)
    return None if check is None else f"v is None or {check}"
