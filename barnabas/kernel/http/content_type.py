"""Content types: what a client sends and accepts, and which of our types suits it best."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ITEMS_MAX: Final = 64
"""Items of one header that are looked at; nobody means more."""

# Commas and semicolons inside of quotes are part of a value.
_ITEM: Final = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_PART: Final = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*"?)+')
# Java's own client leaves the nought before the point away.
_WEIGHT: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|\.[0-9]{1,3}|1(?:\.0{0,3})?)")
_ESCAPE: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class MediaType:
    """`type/subtype` in lower case, with its parameters; either may be `*` in a range."""

    type: str
    subtype: str
    parameters: Mapping[str, str]

    @property
    def essence(self) -> str:
        """The type without parameters."""
        return f"{self.type}/{self.subtype}"

    def covers(self, other: MediaType) -> bool:
        """As a range: whether the other type lies in it. Parameters that it names must be the other's too, except the charset."""
        if self.type not in ("*", other.type) or self.subtype not in ("*", other.subtype):
            return False
        return all(other.parameters.get(name) == value for name, value in self.parameters.items() if name != "charset")

    def specificity(self) -> tuple[bool, bool, int]:
        return self.type != "*", self.subtype != "*", len(self.parameters)


@dataclass(frozen=True, slots=True)
class Offer:
    """A type that we can answer with, and how much we like to."""

    media_type: MediaType
    weight: float = 1.0


def parse_media_type(text: str) -> MediaType | None:
    """One type as it stands in Content-Type; None if it is none."""
    essence, parameters = _parameters(text)
    kind, slash, subtype = essence.partition("/")
    if not slash or not kind or not subtype or "/" in subtype or (kind == "*" and subtype != "*"):
        return None
    return MediaType(kind, subtype, parameters)


def parse_weighted(text: str) -> list[tuple[str, dict[str, str], float]]:
    """The items of a header such as Accept-Encoding: name, parameters, and weight. What has no sensible weight is left out."""
    items = []
    for count, item in enumerate(_ITEM.findall(text)):
        if count == ITEMS_MAX:
            break
        name, parameters = _parameters(item)
        weight = parameters.pop("q", "1")
        if name and _WEIGHT.fullmatch(weight):
            items.append((name, parameters, float(weight)))
    return items


def choose(accept: str, offers: Sequence[Offer]) -> MediaType | None:
    """The offer that suits an Accept header best, the client's weight times ours; None if it takes none of them.

    Without the header everything is accepted. Of equals the first offer wins.
    """
    ranges = _ranges(accept)
    best, best_weight = None, 0.0
    for offer in offers:
        weight = _client_weight(offer.media_type, ranges) * offer.weight
        if weight > best_weight:
            best, best_weight = offer.media_type, weight
    return best


def _ranges(accept: str) -> list[tuple[MediaType, float]]:
    if not accept.strip():
        return [(MediaType("*", "*", {}), 1.0)]
    ranges = []
    for name, parameters, weight in parse_weighted(accept):
        # Java's own client writes a lone star where it means everything.
        media_type = parse_media_type("*/*" if name == "*" else name)
        if media_type is not None:
            ranges.append((MediaType(media_type.type, media_type.subtype, parameters), weight))
    return ranges


def _client_weight(media_type: MediaType, ranges: Iterable[tuple[MediaType, float]]) -> float:
    """The weight of the most specific range that covers the type."""
    covering = [(accepted.specificity(), weight) for accepted, weight in ranges if accepted.covers(media_type)]
    return max(covering)[1] if covering else 0.0


def _parameters(text: str) -> tuple[str, dict[str, str]]:
    name, *rest = _PART.findall(text) or [""]
    parameters = {}
    for part in rest:
        key, _, value = part.partition("=")
        if key.strip():
            parameters[key.strip().lower()] = _unquoted(value.strip())
    return name.strip().lower(), parameters


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(r"\1", value[1:-1])
    return value
