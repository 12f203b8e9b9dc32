"""Keys that other registries wrote in bytes of their own.

A key means the same in any order of its members, but compaction compares bytes. What is written under our spelling would
leave the other one in the topic, and once our deletion has been compacted away, the old record would come back to life. So
whoever writes a key also deletes its other spellings.
"""

from __future__ import annotations

from collections.abc import Sequence

from schema_registry.store.record import Record


class Spellings:
    """The other spellings of keys that still have a value in the topic."""

    def __init__(self) -> None:
        self._others: dict[bytes, set[bytes]] = {}

    def note(self, canonical: bytes, spelled: bytes, *, alive: bool) -> None:
        """Remember a key that was read, or forget it when it was deleted."""
        if canonical == spelled:
            return
        if alive:
            self._others.setdefault(canonical, set()).add(spelled)
        else:
            spellings = self._others.get(canonical, set())
            spellings.discard(spelled)
            if not spellings:
                self._others.pop(canonical, None)

    def clear(self) -> None:
        self._others.clear()

    def unify(self, records: Sequence[Record]) -> list[Record]:
        """The records, behind deletions of every other spelling of their keys."""
        deletions = [Record(other, None) for record in records for other in sorted(self._others.get(record.key, ()))]
        return [*deletions, *records]
