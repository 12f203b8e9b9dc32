"""Who of a group does what: what its members tell each other, and what its leader decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from connect.tasks.spec import TaskId

OWN_PART: Final = -1


class Piece(NamedTuple):
    """A task, or a connector's own part, which finds what its tasks share out."""

    connector: str
    number: int = OWN_PART

    @property
    def is_task(self) -> bool:
        return self.number != OWN_PART

    @property
    def task(self) -> TaskId:
        return TaskId(self.connector, self.number)

    def __str__(self) -> str:
        return f"task {self.task}" if self.is_task else f"connector {self.connector}"


Work: TypeAlias = frozenset[Piece]

NO_WORK: Final[Work] = frozenset()


@dataclass(frozen=True, slots=True)
class Departure:
    """The work of a worker that is away, which waits this long for its return."""

    work: Work
    left_ms: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What the leader decided: the same for every worker, so that each knows all, and any can lead next.

    `moving` is work that its workers have to stop before others get it. `settling` says that the work is not shared out evenly yet.
    """

    number: int
    leader: str
    config_position: int
    urls: Mapping[str, str]
    work: Mapping[str, Work]
    departed: Mapping[str, Departure] = field(default_factory=dict)
    moving: Work = NO_WORK
    settling: bool = False

    @property
    def everything(self) -> Work:
        away = (departure.work for departure in self.departed.values())
        return self.moving.union(*self.work.values(), *away)

    def of(self, worker_id: str) -> Work:
        return self.work.get(worker_id, NO_WORK)

    def owner_url(self, piece: Piece) -> str | None:
        return next((self.urls[worker] for worker, work in self.work.items() if piece in work), None)

    def aged(self, ms: int) -> Plan:
        """The same plan some time later."""
        away = {worker: replace(each, left_ms=max(0, each.left_ms - ms)) for worker, each in self.departed.items()}
        return replace(self, departed=away)

    def encode(self) -> bytes:
        return orjson.dumps(self._to_json())

    def _to_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "leader": self.leader,
            "config_position": self.config_position,
            "urls": dict(self.urls),
            "work": {worker: _work_to_json(work) for worker, work in self.work.items()},
            "departed": {
                worker: {"work": _work_to_json(each.work), "left_ms": each.left_ms}
                for worker, each in self.departed.items()
            },
            "moving": _work_to_json(self.moving),
            "settling": self.settling,
        }

    @classmethod
    def parse(cls, raw: bytes) -> Plan:
        """ValueError when it is none."""
        return cls.from_json(_object(orjson.loads(raw)))

    @classmethod
    def from_json(cls, members: Mapping[str, Any]) -> Plan:
        try:
            return cls(
                int(members["number"]),
                str(members["leader"]),
                int(members["config_position"]),
                dict(members["urls"]),
                {worker: _work_from_json(work) for worker, work in members["work"].items()},
                {
                    worker: Departure(_work_from_json(each["work"]), int(each["left_ms"]))
                    for worker, each in members["departed"].items()
                },
                _work_from_json(members["moving"]),
                bool(members["settling"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the group's leader assigned something else than a plan: {error!r}") from None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker tells the group when it joins: where it is reached, what it holds, and the last plan that it knows.

    `releasing` is what it holds no longer, as soon as it has stopped.
    """

    worker_id: str
    url: str
    config_position: int
    held: Work = NO_WORK
    releasing: Work = NO_WORK
    plan: Plan | None = None

    def encode(self) -> bytes:
        return orjson.dumps(
            {
                "worker_id": self.worker_id,
                "url": self.url,
                "config_position": self.config_position,
                "held": _work_to_json(self.held),
                "releasing": _work_to_json(self.releasing),
                "plan": None if self.plan is None else self.plan._to_json(),
            }
        )

    @classmethod
    def parse(cls, raw: bytes) -> Offer:
        """ValueError when it is none."""
        members = _object(orjson.loads(raw))
        try:
            plan = members["plan"]
            return cls(
                str(members["worker_id"]),
                str(members["url"]),
                int(members["config_position"]),
                _work_from_json(members["held"]),
                _work_from_json(members["releasing"]),
                None if plan is None else Plan.from_json(plan),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"a member of the group offers something else than its work: {error!r}") from None


def _work_to_json(work: Iterable[Piece]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for connector, number in sorted(work):
        found.setdefault(connector, []).append(number)
    return found


def _work_from_json(members: Mapping[str, Iterable[int]]) -> Work:
    return frozenset(Piece(connector, int(number)) for connector, numbers in members.items() for number in numbers)


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {type(value).__name__}")
    return value
