"""Connectors: their settings, compared without telling a secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.cli.apply.desired_state import WantedConnector
from barnabas.cli.apply.fingerprint import fingerprint, matches
from barnabas.cli.apply.plan import CONNECTOR, Action, Change, Member, refused
from barnabas.cli.connectors.client import NOT_FOUND, PLUGINS, ConnectClient, Refusal, path_of, plugin_path_of
from barnabas.kernel.settings import MASK

SOURCE: Final = "source"
_INVALID: Final = 400
_PASSWORD: Final = "PASSWORD"  # noqa: S105 - the name of a type
_SOUNDS_SECRET: Final = re.compile(
    "passw|passphrase|pwd|secret|jaas|token|credential|private|auth|api.?key", re.IGNORECASE
)
_REFERENCE: Final = re.compile(r"(?:\$\{[^}]*:[^}]*\})+")
"""Of a config provider: it reveals nothing."""
_LOGIN: Final = re.compile(r"(?<=://)([^/?#\s:@]*):[^/?#\s@]+(?=@)")
_PARAMETER: Final = re.compile(
    r"([?&;][^=&;?]{0,64}(?:password|passwd|pwd|secret|token)[^=&;?]{0,64}=)[^&;\s]+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PlannedConnector:
    """A change, and whether the connector is a source: those come before SQL, which reads what they write."""

    change: Change
    is_source: bool


class Connectors:
    """The connectors of a worker, ours or Kafka's. `fingerprints` are those of the settings that earlier runs gave them."""

    def __init__(self, client: ConnectClient, fingerprints: Mapping[str, str]) -> None:
        self._client = client
        self._fingerprints = fingerprints
        self._sources: frozenset[str] | None = None

    def plan(self, wanted: Sequence[WantedConnector]) -> list[PlannedConnector]:
        return [PlannedConnector(self._change(each), self._is_source(each)) for each in wanted]

    def removals(self, names: Sequence[str]) -> list[Change]:
        there = set(self._client.call("GET", "/connectors")) if names else set()
        return [
            Change(CONNECTOR, name, Action.DELETE, note="its offsets stay", work=self._call("DELETE", path_of(name)))
            for name in names
            if name in there
        ]

    def _change(self, wanted: WantedConnector) -> Change:
        former = self._former(wanted.name)
        if former == wanted.config:
            return Change(CONNECTOR, wanted.name, Action.KEEP)
        try:
            kind = wanted.config["connector.class"]
            validation = self._client.call("PUT", plugin_path_of(kind, "/config/validate"), wanted.config)
        except Refusal as refusal:
            if refusal.code not in (_INVALID, NOT_FOUND):
                raise
            return refused(CONNECTOR, wanted.name, f"{wanted.place}: {refusal}")
        secret = _secret_names(validation, {**(former or {}), **wanted.config})
        members, uncertain = _members(former or {}, wanted.config, secret)
        is_uncertain = bool(uncertain) and all(member.name in uncertain for member in members)
        if is_uncertain and matches(wanted.config, self._fingerprints.get(wanted.name, "")):
            return Change(CONNECTOR, wanted.name, Action.KEEP)
        problems = _problems(validation)
        if problems:
            reason = "\n".join([f"{wanted.place}:", *problems])
            return refused(CONNECTOR, wanted.name, reason, members, is_new=former is None)
        note = [f"warning: {warning}" for warning in validation.get("warnings", ())]
        if is_uncertain:
            note.append("set again, since the worker does not show secrets, and no run of this file has set these")
        work = self._call("PUT", path_of(wanted.name, "/config"), wanted.config)
        action = Action.CREATE if former is None else Action.CHANGE
        has_secrets = any(_shown(name, text, secret) != text for name, text in wanted.config.items())
        mark = fingerprint(wanted.config) if has_secrets else ""
        return Change(CONNECTOR, wanted.name, action, members, note="\n".join(note), work=work, fingerprint=mark)

    def _former(self, name: str) -> dict[str, str] | None:
        try:
            found: dict[str, str] = self._client.call("GET", path_of(name, "/config"))
        except Refusal as refusal:
            if refusal.code != NOT_FOUND:
                raise
            return None
        return found

    def _is_source(self, wanted: WantedConnector) -> bool:
        if self._sources is None:
            plugins = self._client.call("GET", PLUGINS)
            self._sources = frozenset(
                name for each in plugins if each["type"] == SOURCE for name in _names(each["class"])
            )
        return wanted.config["connector.class"] in self._sources

    def _call(self, method: str, path: str, body: object = None) -> Callable[[], None]:
        def work() -> None:
            self._client.call(method, path, body)

        return work


def _names(plugin: str) -> list[str]:
    """What a class may be called: the whole, its last word, and that without Connector."""
    last = plugin.rpartition(".")[2]
    return [plugin, last, last.removesuffix("Connector")]


def _secret_names(validation: Any, config: Mapping[str, str]) -> set[str]:
    declared = {
        entry["definition"]["name"] for entry in validation["configs"] if entry["definition"].get("type") == _PASSWORD
    }
    return declared | {name for name in config if _SOUNDS_SECRET.search(name)}


def _members(
    former: Mapping[str, str], wanted: Mapping[str, str], secret: Collection[str]
) -> tuple[tuple[Member, ...], set[str]]:
    """What differs, and the names of those that a worker shows with a mask, so that they cannot be compared."""
    members, uncertain = [], set()
    for name in sorted(former.keys() | wanted.keys()):
        old, new = former.get(name), wanted.get(name)
        if old == new or name == "name":
            continue
        if old is not None and MASK in old:
            uncertain.add(name)
        members.append(Member(name, _shown(name, old, secret), _shown(name, new, secret)))
    return tuple(members), uncertain


def _shown(name: str, text: str | None, secret: Collection[str]) -> str | None:
    if not text:
        return text
    if name in secret:
        return text if _REFERENCE.fullmatch(text) else MASK
    return _PARAMETER.sub(rf"\1{MASK}", _LOGIN.sub(rf"\1:{MASK}", text))


def _problems(validation: Any) -> list[str]:
    return [
        f"{entry['value']['name']}: {error}" for entry in validation["configs"] for error in entry["value"]["errors"]
    ]
