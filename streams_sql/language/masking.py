"""Statements as they may be shown: the settings of a connector are often secrets."""

from __future__ import annotations

import re
from typing import Final

from streams_sql.language.splitting import QUOTED

MASKED: Final = "'[string]'"

_CONNECTOR: Final = re.compile(r"\bCREATE\s+(?:SOURCE|SINK)\s+CONNECTOR\b", re.IGNORECASE)
_SETTING: Final = re.compile(rf"(?P<name>{QUOTED}|\w[\w.]*)(?P<between>\s*=\s*)(?P<value>{QUOTED}|[^\s,)]+)", re.DOTALL)
_SHOWN: Final = frozenset({"connector.class"})


def has_secrets(text: str) -> bool:
    """Whether parts of a text, of one statement or of several, may not be shown."""
    return _CONNECTOR.search(text) is not None


def masked(text: str) -> str:
    """The statement without the settings of a connector, whether it can be read or not."""
    return _SETTING.sub(_masked_setting, text) if has_secrets(text) else text


def _masked_setting(setting: re.Match[str]) -> str:
    is_shown = setting["name"].strip("'\"`").lower() in _SHOWN
    return f"{setting['name']}{setting['between']}{setting['value'] if is_shown else MASKED}"
