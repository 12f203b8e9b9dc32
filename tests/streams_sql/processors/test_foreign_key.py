"""Foreign-key joins."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.language.statements import JoinKind, Kind
from streams_sql.plan.nodes import ForeignKeyJoin
from streams_sql.plan.pipeline import Row
from streams_sql.processors.foreign_key import OTHERS, ROWS, Answering, Asking
from tests.streams_sql.processors.driving import Driven
from tests.streams_sql.processors.plans import foreign_key_join, reading, row, told, unexpected

SIDES = (reading("l", Kind.TABLE, "L_"), reading("r", Kind.TABLE, "R_"))
KINDS = (JoinKind.INNER, JoinKind.LEFT)
SHOWN = ("L_V", "R_V", "ROWTIME")


class Talking:
    """Both processors, with what is under way between them."""

    def __init__(self, node: ForeignKeyJoin) -> None:
        self._asking = Driven(Asking(node, with_old=False, on_error=unexpected))
        self._answering = Driven(Answering(node))
        self.questions: deque[Any] = deque()
        self.answers: deque[Any] = deque()

    def left(self, each: Row) -> None:
        self.questions += self._asking.push(ROWS, [each])

    def right(self, each: Row) -> None:
        self.answers += self._answering.push(ROWS, [each])

    def answer(self) -> None:
        """One question is answered."""
        self.answers += self._answering.push(OTHERS, [self.questions.popleft()])

    def hear(self) -> list[Row]:
        """One answer is heard."""
        return self._asking.push(OTHERS, [self.answers.popleft()])

    def settle(self) -> list[Row]:
        found: list[Row] = []
        while self.questions or self.answers:
            if self.questions:
                self.answer()
            else:
                found += self.hear()
        return found

    @property
    def is_empty(self) -> bool:
        return not self._asking.states and not self._answering.states


def left(key: str, foreign: str | None, value: int | None, time: int = 0) -> Row:
    return row(SIDES[0], time, is_deleted=value is None, K=key, G=foreign, V=value)


def right(key: str, value: int | None, time: int = 0) -> Row:
    return row(SIDES[1], time, is_deleted=value is None, K=key, V=value)


def run(kind: JoinKind, *rows: Row) -> list[tuple[Any, ...]]:
    """Each row is settled before the next one. Keys of the left table are small letters."""
    node = foreign_key_join(*SIDES, kind)
    talking = Talking(node)
    found = []
    for each in rows:
        (talking.left if each[0].islower() else talking.right)(each)
        found += told(talking.settle(), node, ["L_K"], SHOWN)
    return found


LEFT_CHANGES = st.tuples(
    st.sampled_from("ab"), st.sampled_from(["X", "Y", None]), st.one_of(st.none(), st.integers(0, 3))
)
RIGHT_CHANGES = st.tuples(st.sampled_from("XY"), st.one_of(st.none(), st.integers(0, 3)))
STEPS = st.lists(
    st.one_of(
        LEFT_CHANGES.map(lambda found: ("left", found)),
        RIGHT_CHANGES.map(lambda found: ("right", found)),
        st.just(("answer", ())),
        st.just(("hear", ())),
    ),
    max_size=40,
)


@pytest.mark.parametrize("kind", KINDS)
@given(steps=STEPS)
def test_when_all_is_settled_it_is_the_join_of_both_tables(
    kind: JoinKind, steps: list[tuple[str, tuple[Any, ...]]]
) -> None:
    """However long questions and answers are under way, as long as they keep their order."""
    node = foreign_key_join(*SIDES, kind)
    talking = Talking(node)
    lefts: dict[str, tuple[str | None, int]] = {}
    rights: dict[str, int] = {}
    made: list[Row] = []
    for step, found in steps:
        match step:
            case "left":
                key, foreign, value = found
                talking.left(left(key, foreign, value))
                lefts.pop(key, None)
                lefts |= {} if value is None else {key: (foreign, value)}
            case "right":
                key, value = found
                talking.right(right(key, value))
                rights.pop(key, None)
                rights |= {} if value is None else {key: value}
            case "answer" if talking.questions:
                talking.answer()
            case "hear" if talking.answers:
                made += talking.hear()
    made += talking.settle()
    standing: dict[str, Any] = {}
    for key, value in told(made, node, ["L_K"], ["L_V", "R_V"]):
        standing.pop(key, None)
        standing |= {} if value is None else {key: value}
    assert standing == {
        key: (value, rights.get(foreign or ""))
        for key, (foreign, value) in lefts.items()
        if kind is JoinKind.LEFT or foreign in rights
    }


def test_an_inner_join_tells_when_the_named_row_comes_and_goes() -> None:
    assert run(
        JoinKind.INNER,
        right("X", 1, 0),
        left("a", "X", 5, 10),
        left("b", "Y", 6, 13),
        right("X", 2, 15),
        left("c", "X", 7, 16),
        right("X", None, 17),
        left("a", None, None, 18),
    ) == [
        ("a", (5, 1, 10)),
        ("a", (5, 2, 15)),
        ("c", (7, 2, 16)),
        ("a", None),
        ("c", None),
        ("a", None),
    ]


def test_a_left_join_keeps_rows_without_a_partner() -> None:
    assert run(
        JoinKind.LEFT,
        left("a", "X", 5, 0),
        right("X", 1, 10),
        left("b", None, 6, 13),
        right("X", None, 17),
        left("a", None, None, 18),
        left("b", None, None, 19),
    ) == [
        ("a", (5, None, 0)),
        ("a", (5, 1, 10)),
        ("b", (6, None, 13)),
        ("a", (5, None, 17)),
        ("a", None),
        ("b", None),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_another_foreign_key_is_told_once_with_the_later_time(kind: JoinKind) -> None:
    rows = [right("X", 1, 0), right("Y", 2, 50), left("a", "X", 5, 10), left("a", "Y", 5, 20)]
    assert run(kind, *rows) == [("a", (5, 1, 10)), ("a", (5, 2, 50))]


def test_an_inner_join_tells_of_a_row_that_lost_its_partner() -> None:
    rows = [right("X", 1), left("a", "X", 5, 1), left("a", "Y", 5, 2), left("a", None, 5, 3), left("a", "X", 5, 4)]
    assert run(JoinKind.INNER, *rows) == [("a", (5, 1, 1)), ("a", None), ("a", None), ("a", (5, 1, 4))]


def test_an_answer_about_a_row_that_has_changed_is_dropped() -> None:
    node = foreign_key_join(*SIDES, JoinKind.INNER)
    talking = Talking(node)
    talking.right(right("X", 1))
    talking.left(left("a", "X", 5))
    talking.answer()
    talking.left(left("a", "X", 6))
    assert talking.hear() == []
    assert told(talking.settle(), node, ["L_K"], ["L_V", "R_V"]) == [("a", (6, 1))]


def test_a_row_that_comes_again_before_its_deletion_was_answered_is_not_left_standing() -> None:
    node = foreign_key_join(*SIDES, JoinKind.INNER)
    talking = Talking(node)
    talking.left(left("a", "X", 5))
    talking.right(right("X", 1))
    talking.answer()
    assert told(talking.hear(), node, ["L_K"], ["L_V", "R_V"]) == [("a", (5, 1))]
    talking.right(right("X", None))
    talking.left(left("a", "X", None))
    talking.left(left("a", "X", 6))
    assert told(talking.settle(), node, ["L_K"], ["L_V", "R_V"]) == [("a", None)]


def test_nothing_is_kept_of_rows_that_are_gone() -> None:
    talking = Talking(foreign_key_join(*SIDES, JoinKind.LEFT))
    for each in (left("a", "X", 1), left("a", "Y", 1), left("a", None, None)):
        talking.left(each)
        talking.settle()
    assert talking.is_empty


def test_a_change_has_what_was_told_before() -> None:
    node = foreign_key_join(*SIDES, JoinKind.LEFT)
    asking, answering = Driven(Asking(node, with_old=True, on_error=unexpected)), Driven(Answering(node))
    changes = []
    for each in (left("a", "X", 1), left("a", "X", 2), left("a", None, None)):
        changes += asking.push(OTHERS, answering.push(OTHERS, asking.push(ROWS, [each])))
    assert [old for old, _ in changes] == [None, *(new for _, new in changes[:-1])]
