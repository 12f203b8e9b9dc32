"""JSON Schema: JSON values, checked against their schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from barnabas.kernel.serdes.serdes_error import MissingLibraryError, SerdesError, ValueMismatchError

# Patterns come from schemas: how often one may try again before it counts as no match.
PATTERN_RETRIES_MAX: Final = 100_000
# Names of references are relative to the address of the schema; one without an address is taken to lie here.
BASE_DEFAULT: Final = "http://schema.invalid/"


class JsonSchemaCodec:
    """One schema, compiled. The data is JSON as such; with `validates` off, nothing is checked."""

    preamble = b""

    def __init__(self, text: str, referenced: Mapping[str, str] | None = None, *, validates: bool = True) -> None:
        try:
            import orjson
        except ImportError:
            raise MissingLibraryError("JSON Schema", "orjson") from None
        self._dump = orjson.dumps
        self._load = orjson.loads
        self._validator = _validator(text, referenced or {}) if validates else None

    def encode(self, value: Any) -> bytes:
        self._check(value)
        try:
            return self._dump(value)
        except TypeError as error:
            raise ValueMismatchError(f"the value cannot be written as JSON: {error}") from None

    def decode(self, body: bytes) -> Any:
        try:
            value = self._load(body)
        except ValueError as error:
            raise SerdesError(f"the data is not JSON: {error}") from None
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        if self._validator is not None and not self._validator.is_valid(value):
            error = next(self._validator.iter_errors(value))
            raise ValueMismatchError(error.message, _path_text(error.instance_path))


def _validator(text: str, referenced: Mapping[str, str]) -> Any:
    try:
        import jsonschema_rs
    except ImportError:
        raise MissingLibraryError("JSON Schema", "jsonschema_rs") from None
    try:
        schema = json.loads(text)
        given = schema if isinstance(schema, dict) else {}
        base = given.get("$id", "")
        if not base.startswith(("http:", "https:")):
            base = BASE_DEFAULT
        resources = [(urljoin(base, name), json.loads(other)) for name, other in referenced.items()]
        make = jsonschema_rs.validator_for if "$schema" in given else jsonschema_rs.Draft7Validator
        return make(
            schema,
            registry=jsonschema_rs.Registry(resources, draft=jsonschema_rs.Draft7),
            base_uri=base,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=PATTERN_RETRIES_MAX),
            offline=True,
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise SerdesError(f"the JSON schema cannot be used: {str(error).splitlines()[0]}") from None


def _path_text(path: list[str | int]) -> str:
    """As the other formats show it: `orders[3].price`."""
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else step
    return shown
