"""Addresses of resources, as the client sees this service, and their Confluent Resource Names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

# What RFC 3986 lets stand in a segment of a path; names of topics and groups mostly consist of it.
_SEGMENT_SAFE: Final = "!$&'()*+,;=:@"
_QUERY_SAFE: Final = "*"


@dataclass(frozen=True, slots=True)
class Links:
    """Links of one answer. They begin with the origin under which clients reach this service."""

    origin: str

    def url(self, *segments: str | int, query: dict[str, str] | None = None) -> str:
        path = "/".join(quote(str(segment), safe=_SEGMENT_SAFE) for segment in ("v3", "clusters", *segments))
        return f"{self.origin}/{path}" + (f"?{urlencode(query, safe=_QUERY_SAFE)}" if query else "")


def resource_name(*steps: tuple[str, str | int | None]) -> str:
    """`crn:///kafka=…/topic=…`; a step without a value is a name alone."""
    return "crn:///" + "/".join(name if value is None else f"{name}={value}" for name, value in steps)
