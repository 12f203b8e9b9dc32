"""What an election comes to: the same for every member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from barnabas.kernel.leadership.identity import Identity

NO_ERROR: Final = 0
DUPLICATE_URLS: Final = 1

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Assignment:
    """The member that leads and how to reach it; none when nobody may lead."""

    leader_id: str | None
    leader: Identity | None
    error: int = NO_ERROR

    def encode(self) -> bytes:
        members = {
            "version": _VERSION,
            "error": self.error,
            "master": self.leader_id,
            "master_identity": self.leader and self.leader.to_json(),
        }
        return orjson.dumps({name: member for name, member in members.items() if member is not None})

    @classmethod
    def parse(cls, raw: bytes) -> Assignment:
        """ValueError when it is none. Karapace may name a member that may not lead, which means nobody."""
        members = orjson.loads(raw)
        if not isinstance(members, dict):
            raise ValueError(f"the group's leader assigned {members!r}")
        found = members.get("master_identity")
        leader = None if found is None else Identity.from_json(found)
        if leader is None or not leader.eligible:
            return cls(None, None, members.get("error", NO_ERROR))
        return cls(members.get("master"), leader, members.get("error", NO_ERROR))


def elect(members: Mapping[str, Identity], *, sticky: bool) -> Assignment:
    """The eligible member with the smallest URL; with `sticky`, the one that leads already, if there is just one."""
    error = NO_ERROR if len({identity.url for identity in members.values()}) == len(members) else DUPLICATE_URLS
    candidates = {member_id: identity for member_id, identity in members.items() if identity.eligible}
    leading = [member_id for member_id, identity in candidates.items() if identity.leads]
    if sticky and len(leading) == 1:
        return Assignment(leading[0], candidates[leading[0]], error)
    leader_id = min(candidates, key=lambda member_id: candidates[member_id].url, default=None)
    return Assignment(leader_id, candidates[leader_id] if leader_id is not None else None, error)
