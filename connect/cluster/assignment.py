"""Sharing work out among the workers of a group: sticky, cooperative, and with a delay. A pure function of what the members offer.

- Work stays where it is, as long as its worker is there and others do not have much less. A change to one connector moves no other.
- What has to move is first stopped by its worker, and given to another in the next round; nothing else is touched.
- The work of a worker that has gone waits for its return. If it comes back in time it goes on with the same work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from connect.cluster.plan import NO_WORK, Departure, Offer, Piece, Plan, Work


def share_out(offers: Sequence[Offer], wanted: Work, leader: Offer, max_delay_ms: int) -> Plan:
    """What each worker should do. `wanted` is all that there is to do."""
    former = max((offer.plan for offer in offers if offer.plan is not None), key=_number, default=None)
    workers = {offer.worker_id: offer for offer in offers}
    held = _held(workers, wanted, former)
    releasing = wanted.intersection(_union(offer.releasing for offer in offers)) - _union(held.values())
    taken = releasing | _union(held.values())
    away = _away(workers, wanted - taken, former, max_delay_ms)
    work = {worker: held[worker] | _returned(worker, wanted - taken, former) for worker in workers}
    waiting = _union(departure.work for departure in away.values())
    work = _given(work, wanted - taken - waiting - _union(work.values()))
    moving = releasing
    if not away and _is_uneven(workers, former):
        surplus = {worker: _surplus(worker, work, wanted) for worker in work}
        work = {worker: pieces - surplus[worker] for worker, pieces in work.items()}
        moving = releasing | _union(surplus.values())
    return Plan(
        number=_number(former) + 1,
        leader=leader.worker_id,
        config_position=leader.config_position,
        urls={offer.worker_id: offer.url for offer in offers},
        work=work,
        departed=away,
        moving=moving,
        settling=bool(away or moving),
    )


def _union(works: Iterable[Work]) -> Work:
    return NO_WORK.union(*works)


def _number(plan: Plan | None) -> int:
    return 0 if plan is None else plan.number


def _held(workers: Mapping[str, Offer], wanted: Work, former: Plan | None) -> dict[str, Work]:
    """What workers hold already. If two hold the same, as after one was away for long, it belongs to the one whose it was last."""
    owners: dict[Piece, str] = {}
    for worker in sorted(workers):
        for piece in workers[worker].held & wanted:
            if piece not in owners or (former is not None and piece in former.of(worker)):
                owners[piece] = worker
    return {
        worker: frozenset(piece for piece in offer.held if owners.get(piece) == worker)
        for worker, offer in workers.items()
    }


def _away(workers: Mapping[str, Offer], free: Work, former: Plan | None, max_delay_ms: int) -> dict[str, Departure]:
    """Work that waits for workers that have gone."""
    if former is None or not max_delay_ms:
        return {}
    gone = {worker: Departure(work, max_delay_ms) for worker, work in former.work.items() if worker not in workers}
    gone |= {worker: each for worker, each in former.departed.items() if worker not in workers}
    waiting = {worker: Departure(each.work & free, each.left_ms) for worker, each in gone.items() if each.left_ms}
    return {worker: each for worker, each in waiting.items() if each.work}


def _returned(worker: str, free: Work, former: Plan | None) -> Work:
    """What waits for a worker that is back, or that has started again before anybody missed it."""
    if former is None:
        return NO_WORK
    departure = former.departed.get(worker)
    return free & (former.of(worker) if departure is None else departure.work)


def _given(work: Mapping[str, Work], free: Work) -> dict[str, Work]:
    """Give free work to those who have least of its kind, and least of the same connector."""
    result = {worker: set(pieces) for worker, pieces in work.items()}
    if not result:
        return {}
    kinds = {worker: Counter(piece.is_task for piece in pieces) for worker, pieces in work.items()}
    connectors = {worker: Counter(piece.connector for piece in pieces) for worker, pieces in work.items()}
    for piece in sorted(free):
        is_task, connector = piece.is_task, piece.connector

        def load(worker: str, is_task: bool = is_task, connector: str = connector) -> tuple[int, int, int, str]:
            return kinds[worker][is_task], connectors[worker][connector], len(result[worker]), worker

        receiver = min(result, key=load)
        result[receiver].add(piece)
        kinds[receiver][is_task] += 1
        connectors[receiver][connector] += 1
    return {worker: frozenset(pieces) for worker, pieces in result.items()}


def _is_uneven(workers: Mapping[str, Offer], former: Plan | None) -> bool:
    """Only when workers have come or gone is work taken from those who have more than others."""
    return former is None or former.settling or set(former.work) != set(workers)


def _surplus(worker: str, work: Mapping[str, Work], wanted: Work) -> Work:
    """What a worker has above its fair share, of each kind. Those who have most may keep the odd ones."""
    surplus: set[Piece] = set()
    for is_task in (False, True):
        own = {each: [piece for piece in pieces if piece.is_task == is_task] for each, pieces in work.items()}
        share, odd = divmod(sum(piece.is_task == is_task for piece in wanted), len(own))
        by_load = sorted(own, key=lambda each: (-len(own[each]), each))
        fair = share + (by_load.index(worker) < odd)
        surplus.update(_most_crowded(own[worker], len(own[worker]) - fair))
    return frozenset(surplus)


def _most_crowded(pieces: Iterable[Piece], count: int) -> list[Piece]:
    """Pieces to give away: of the connectors that have most of them here, so that their tasks spread."""
    left = sorted(pieces)
    chosen: list[Piece] = []
    while len(chosen) < count:
        crowds = Counter(piece.connector for piece in left)
        piece = max(left, key=lambda each: (crowds[each.connector], each))
        left.remove(piece)
        chosen.append(piece)
    return chosen
