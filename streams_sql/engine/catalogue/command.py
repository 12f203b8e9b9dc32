"""Changes of the catalogue, as the command topic keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

VERSION: Final = 3
"""Of the form of a record. Records of a later one are for a later server, and are refused."""
_TABLE_VERSION: Final = 2
"""Of records about the query of a table that replaces another one: servers that know of no others read them as well."""
_PLAIN_VERSION: Final = 1
"""Of all other records, which servers before that read."""
LOWERING: Final = 10
"""Of how plans become jobs of Spark. It grows with each change after which a checkpoint would not mean the same any more."""


class UnknownCommand(Exception):
    """A record that this server cannot read, and why."""


@dataclass(frozen=True, slots=True)
class Command:
    """A statement, and what was found out when it was made, so that it means the same whenever it is replayed.

    `schema` has the columns that the registry gave, as text. The others are of a query that the statement starts: `lowering` is the
    version of how it was made a job of Spark's, and one that has changed since begins again from its sources, in another folder of
    checkpoints; `positions` are where it begins in topics that it does not read from their beginnings; `slots` are the tasks that it
    holds all the time, in real-time mode; `why_batches` says why it does not run so although the server would have it.

    A query that cannot go on with what a former one knows is built beside that, under an id of its own: `rebuilds` is that of the former
    one. A second command with the same statement puts it into its place (`is_swap`). `is_of_stream` says that it follows the former one,
    as queries of streams do. `spare_id` is such an id as long as it is not known whether it is needed, and is never written.
    """

    statement: str
    properties: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, str] = field(default_factory=dict)
    query_id: str | None = None
    lowering: int | None = None
    slots: int | None = None
    positions: str | None = None
    why_batches: str | None = None
    rebuilds: str | None = None
    is_swap: bool = False
    is_of_stream: bool = False
    spare_id: str | None = None

    def encode(self) -> bytes:
        members = {
            "version": self._version,
            "statement": self.statement,
            "properties": dict(self.properties),
            "schema": dict(self.schema),
            "queryId": self.query_id,
            "lowering": self.lowering,
            "slots": self.slots,
            "positions": self.positions,
            "whyBatches": self.why_batches,
            "rebuilds": self.rebuilds,
            "isSwap": self.is_swap or None,
            "isOfStream": self.is_of_stream or None,
        }
        return orjson.dumps({name: member for name, member in members.items() if member not in (None, {})})

    @property
    def _version(self) -> int:
        if self.is_of_stream:
            return VERSION
        return _TABLE_VERSION if self.is_swap or self.rebuilds is not None else _PLAIN_VERSION

    @classmethod
    def decode(cls, raw: bytes) -> Command:
        try:
            members: Any = orjson.loads(raw)
        except orjson.JSONDecodeError as problem:
            raise UnknownCommand(f"it is no JSON: {problem}") from None
        version = members.get("version") if isinstance(members, dict) else None
        if not isinstance(version, int) or version > VERSION:
            raise UnknownCommand(f"it has version {version!r}, and this server reads versions up to {VERSION}")
        statement = members.get("statement")
        if not isinstance(statement, str):
            raise UnknownCommand(f"its statement is {statement!r}")
        return cls(
            statement,
            _texts(members, "properties"),
            _texts(members, "schema"),
            members.get("queryId"),
            members.get("lowering"),
            members.get("slots"),
            members.get("positions"),
            members.get("whyBatches"),
            members.get("rebuilds"),
            bool(members.get("isSwap")),
            bool(members.get("isOfStream")),
        )


def _texts(members: Mapping[str, Any], name: str) -> Mapping[str, str]:
    found = members.get(name, {})
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise UnknownCommand(f"its {name} are {found!r}")
    return found
