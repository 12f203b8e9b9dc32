"""Headers that the operator adds to every answer: `response.http.headers.config`."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from barnabas.kernel.setting_errors import SettingError

if TYPE_CHECKING:
    from starlette.datastructures import MutableHeaders

ACTIONS: Final = ("set", "add")
_EXPECTED: Final = "expected set NAME: VALUE or add NAME: VALUE, several separated by commas, in double quotes where a value has commas"
# The characters of a token, and of a value that cannot end its line.
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class ExtraHeader:
    """`set` replaces a header of the same name, `add` stands beside it."""

    action: str
    name: str
    value: str

    def put(self, headers: MutableHeaders) -> None:
        if self.action == "set":
            headers[self.name] = self.value
        else:
            headers.append(self.name, self.value)


def parse_extra_headers(setting: str, text: str) -> list[ExtraHeader]:
    """For instance `set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store"`."""
    items = next(csv.reader([text], skipinitialspace=True), [])
    return [_parse(setting, item.strip()) for item in items if item.strip()]


def _parse(setting: str, item: str) -> ExtraHeader:
    action, _, header = item.partition(" ")
    name, colon, value = header.partition(":")
    if action not in ACTIONS or not colon:
        raise SettingError(setting, item, _EXPECTED)
    if not _NAME.fullmatch(name.strip()) or not _VALUE.fullmatch(value.strip()):
        raise SettingError(setting, item, "the name or the value has characters that no header may have")
    return ExtraHeader(action, name.strip(), value.strip())
