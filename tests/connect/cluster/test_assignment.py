"""Sharing out work: whatever happens to a group, everything is done by one worker, and nothing moves without need."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connect.cluster.assignment import share_out
from connect.cluster.plan import NO_WORK, Offer, Piece, Plan, Work

DELAY_MS = 300_000
ROUNDS_MAX = 4


@dataclass
class Group:
    """Workers as they are between rounds: what each holds, and the last plan that each knows."""

    delay_ms: int = DELAY_MS
    held: dict[str, Work] = field(default_factory=dict)
    plans: dict[str, Plan | None] = field(default_factory=dict)
    wanted: Work = NO_WORK

    def join(self, worker: str) -> None:
        self.held[worker], self.plans[worker] = NO_WORK, None

    def leave(self, worker: str) -> None:
        del self.held[worker], self.plans[worker]

    def wait(self, ms: int) -> None:
        self.plans = {worker: None if plan is None else plan.aged(ms) for worker, plan in self.plans.items()}

    def round(self) -> Plan:
        offers = [
            Offer(worker, f"http://{worker}", 0, self.held[worker], NO_WORK, self.plans[worker])
            for worker in sorted(self.held)
        ]
        plan = share_out(offers, self.wanted, offers[0], self.delay_ms)
        again = Plan.parse(plan.encode())
        assert again == plan
        self.held = dict(plan.work)
        self.plans = dict.fromkeys(self.held, again)
        return plan

    def settle(self) -> Plan:
        plan = self.round()
        for _ in range(ROUNDS_MAX):
            if not plan.moving:
                return plan
            plan = self.round()
        raise AssertionError(f"the group did not settle in {ROUNDS_MAX} rounds: {plan}")


def connector(name: str, tasks: int) -> Work:
    return frozenset({Piece(name), *(Piece(name, number) for number in range(tasks))})


def group_of(workers: int, *connectors: Work, delay_ms: int = DELAY_MS) -> Group:
    group = Group(delay_ms, wanted=NO_WORK.union(*connectors))
    for number in range(workers):
        group.join(f"w{number}")
    group.settle()
    return group


def test_each_worker_gets_its_share_and_tasks_of_one_connector_spread() -> None:
    group = group_of(3, connector("a", 3), connector("b", 3))
    for work in group.held.values():
        assert Counter(piece.connector for piece in work if piece.is_task) == {"a": 1, "b": 1}


def test_a_new_worker_gets_its_share_and_nothing_else_moves() -> None:
    group = group_of(2, connector("a", 12))
    before = dict(group.held)
    group.join("w2")
    stopping = group.round()
    assert all(stopping.work[worker] <= before[worker] for worker in before)
    assert len(stopping.moving) == 4
    plan = group.settle()
    assert plan.work["w2"] == stopping.moving


def test_a_worker_that_returns_in_time_gets_its_work_back() -> None:
    group = group_of(3, connector("a", 9))
    before = dict(group.held)
    group.leave("w1")
    away = group.round()
    assert (away.departed["w1"].work, away.departed["w1"].left_ms) == (before["w1"], DELAY_MS)
    group.wait(DELAY_MS - 1)
    group.join("w1")
    plan = group.settle()
    assert (dict(plan.work), dict(plan.departed)) == (before, {})


@pytest.mark.parametrize("delay_ms", [0, DELAY_MS])
def test_the_work_of_a_worker_that_does_not_return_is_shared_out(delay_ms: int) -> None:
    group = group_of(3, connector("a", 9), delay_ms=delay_ms)
    before = dict(group.held)
    group.leave("w0")  # the leader: the others know the plan as well
    group.round()
    group.wait(delay_ms)
    plan = group.settle()
    assert plan.everything == group.wanted == NO_WORK.union(*plan.work.values())
    assert all(before[worker] <= plan.work[worker] for worker in ("w1", "w2"))


def test_a_change_to_one_connector_moves_no_other() -> None:
    others = connector("b", 5) | connector("c", 4)
    group = group_of(3, connector("a", 6), others)
    before = {worker: work & others for worker, work in group.held.items()}
    for changed in (connector("a", 1), NO_WORK, connector("a", 9)):
        group.wanted = others | changed
        plan = group.round()
        assert {worker: work & others for worker, work in plan.work.items()} == before
        assert not plan.moving


def test_work_that_is_being_stopped_is_neither_given_nor_counted_twice() -> None:
    group = group_of(1, connector("a", 10))
    group.join("w1")
    plan = group.round()
    offers = [
        Offer("w0", "http://w0", 0, plan.work["w0"], plan.moving, plan),
        Offer("w1", "http://w1", 0, NO_WORK, NO_WORK, plan),
    ]
    again = share_out(offers, group.wanted, offers[0], DELAY_MS)
    assert (again.work, again.moving) == (plan.work, plan.moving)


def test_two_that_hold_the_same_lose_it_but_for_one() -> None:
    group = group_of(2, connector("a", 4))
    group.held["w0"] = group.wanted
    plan = group.round()
    assert not plan.work["w0"] & plan.work["w1"]


_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("join"), st.integers(0, 4)),
        st.tuples(st.just("leave"), st.integers(0, 4)),
        st.tuples(st.just("wait"), st.sampled_from([1, DELAY_MS // 2, DELAY_MS])),
        st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 7)),
    ),
    max_size=12,
)


@given(_EVENTS, st.sampled_from([0, DELAY_MS]))
def test_whatever_happens_all_work_is_somewhere_once(events: list[tuple[str, int]], delay_ms: int) -> None:
    group = group_of(1, connector("a", 3), delay_ms=delay_ms)
    tasks = {"a": 3}
    for what, number in events:
        worker = f"w{number}"
        if what == "join" and worker not in group.held:
            group.join(worker)
        elif what == "leave" and worker in group.held and len(group.held) > 1:
            group.leave(worker)
        elif what == "wait":
            group.wait(number)
        elif what in "abc":
            tasks[what] = number
            group.wanted = NO_WORK.union(*(connector(name, count) for name, count in tasks.items()))
        plan = group.round()
        parts = [*plan.work.values(), *(each.work for each in plan.departed.values()), plan.moving]
        assert Counter(piece for part in parts for piece in part) == dict.fromkeys(group.wanted, 1)
        assert set(plan.work) == set(group.held)
    group.wait(DELAY_MS)
    group.settle()
    settled = group.settle()
    assert NO_WORK.union(*settled.work.values()) == group.wanted
    assert group.round().work == settled.work
