"""Secrets in configurations: they can be set, and are never told again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from barnabas.kernel.settings import MASK
from connect.config.definition import CONNECTOR_KINDS, Definition
from connect.config.providers import refers
from connect.plugins.catalogue import Plugins, UnknownPlugin

SECRET_CHARACTERS_MIN: Final = 3

_SECRET_WORDS: Final = ("password", "passphrase", "secret", "token", "credential", "jaas", "private", "auth")
# The password of a user before the host, and a parameter whose name sounds like one.
_IN_URL: Final = re.compile(
    r"(?P<before>://[^/?#\s:@]*:)(?P<login>[^/?#\s@]+)(?=@)"
    r"|(?P<name>[?&;][^=&;?]{0,64}(?:password|passwd|pwd|secret|token)[^=&;?]{0,64}=)(?P<parameter>[^&;\s]+)",
    re.IGNORECASE,
)


def masked(plugins: Plugins, config: Mapping[str, str]) -> dict[str, str]:
    """The configuration as others may see it. A reference to a config provider tells nothing, so it stays."""
    secret = _secret_names(plugins, config)
    return {name: _shown(text, is_secret=name in secret) for name, text in config.items()}


def unmasked(plugins: Plugins, config: Mapping[str, str], former: Mapping[str, str]) -> dict[str, str]:
    """The configuration with the former secrets where somebody sends back the mask that was told instead of them."""
    secret = _secret_names(plugins, {**former, **config})
    return {
        name: _restored(text, former[name], is_secret=name in secret) if MASK in text and name in former else text
        for name, text in config.items()
    }


def secret_values(plugins: Plugins, config: Mapping[str, str]) -> list[str]:
    """What no message may tell. Short ones would hide every other word, and are no secrets."""
    names = _secret_names(plugins, config)
    found = {part for name, text in config.items() for part in ([text] if name in names else _secrets_in_url(text))}
    # One may be a part of another.
    return sorted((text for text in found if len(text) >= SECRET_CHARACTERS_MIN), key=len, reverse=True)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """A text for others, with the mask in the place of secrets."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def _shown(text: str, *, is_secret: bool) -> str:
    if is_secret:
        return MASK if text and not refers(text) else text
    return _IN_URL.sub(_mask, text) if _is_url(text) else text


def _restored(text: str, former: str, *, is_secret: bool) -> str:
    if is_secret:
        return former if text == MASK else text
    secrets = _secrets_in_url(former)
    if text.count(MASK) != len(secrets):
        return text
    pieces = text.split(MASK)
    return "".join(piece + secret for piece, secret in zip(pieces, [*secrets, ""], strict=True))


def _secrets_in_url(text: str) -> list[str]:
    if not _is_url(text):
        return []
    found = (match["login"] or match["parameter"] for match in _IN_URL.finditer(text))
    return [secret for secret in found if not refers(secret)]


def _is_url(text: str) -> bool:
    return "://" in text or text.startswith("jdbc:")


def _mask(found: re.Match[str]) -> str:
    if refers(found["login"] or found["parameter"]):
        return found[0]
    return f"{found['before'] or found['name']}{MASK}"


def _secret_names(plugins: Plugins, config: Mapping[str, str]) -> set[str]:
    try:
        connector = plugins.find(config.get("connector.class", ""), CONNECTOR_KINDS)
    except UnknownPlugin:
        # The plugin was here once and nobody knows its settings now: what sounds like a secret is none of anybody's business.
        return {name for name in config if any(word in name.lower() for word in _SECRET_WORDS)}
    return {key.name for key in Definition(plugins, connector, config, {}).all_keys() if key.hidden}
