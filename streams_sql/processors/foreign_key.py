"""Foreign-key joins: rows of a table with rows of another one whose keys they name.

Two processors talk to each other, as they are keyed differently. `Asking` knows the rows of the left table by their keys: for each change
it asks under the foreign key. `Answering` knows, under each foreign key, who has asked, and the right table's row: it answers when it is
asked and when that row changes. An answer is about the row that was asked for: if that has changed meanwhile, the answer is stale and is
dropped, since another one is under way. Which changes are told to be gone is Kafka Streams' rule.
"""

from __future__ import annotations

from enum import Enum
from operator import attrgetter
from typing import Any, NamedTuple

from streams_sql.evaluation.compiler import OnError
from streams_sql.language.statements import JoinKind
from streams_sql.plan.nodes import ForeignKeyJoin
from streams_sql.plan.pipeline import Row, columns_of
from streams_sql.processors.joined_rows import JoinedRows
from streams_sql.processors.keys import key_of, table_key
from streams_sql.processors.processor import Clock, Out, as_deleted, as_kept

ROWS, OTHERS = 0, 1
"""The inputs of both: rows of its own table, and what the other processor says."""


class Wish(Enum):
    """What is wanted of the one that answers."""

    ANSWER = "answer"
    ANSWER_IF_FOUND = "answer if there is a row"
    FORGET = "forget"
    FORGET_AND_ANSWER = "forget, and answer that there is no row"


class Question(NamedTuple):
    """`row` is the left row as it is now; it may be one without a value."""

    foreign_key: Any
    key: Any
    row: Row
    wish: Wish


class Answer(NamedTuple):
    key: Any
    row: Row
    found: Row | None
    time: int
    origin: tuple[bool, int, int]


class Asking:
    """The state of a key is its row, and what was told of it last: the row where changes are asked for (`with_old`), else True; None if it
    was told to be gone."""

    def __init__(self, node: ForeignKeyJoin, with_old: bool, on_error: OnError) -> None:
        self.keys = (table_key(node.left), attrgetter("key"))
        self._foreign_key = key_of((node.foreign_key,), columns_of(node.left), on_error)
        self._rows = JoinedRows(node.left, node.right, node.shape)
        self._is_left = node.kind is JoinKind.LEFT
        self._with_old = with_old

    def take(self, key: Any, state: Any, side: int, row: Any, clock: Clock, out: Out) -> Any:
        """Adds questions for rows, and rows for answers."""
        state = [None, None] if state is None else state
        if side == ROWS:
            old, new = state[0], None if row[-1][0] else row
            before = None if old is None else self._foreign_key(old)
            after = None if new is None else self._foreign_key(new)
            if self._is_left:
                asked = self._ask_left(old, new, before, after)
            else:
                asked = self._ask_inner(before, after, is_told=state[1] is not None)
            out.extend(Question(to, key, row, wish) for to, wish in asked)
            state[0] = new
        else:
            self._tell(state, row, out)
        return None if state == [None, None] else state

    def _ask_inner(self, before: Any, after: Any, is_told: bool) -> list[tuple[Any, Wish]]:
        """A row whose foreign key is NULL has no partner. If what was told of an earlier row still stands, the answer that it is gone will
        be stale: then there must be another one."""
        if before is None:
            if is_told:
                return [(after, Wish.ANSWER)]
            return [] if after is None else [(after, Wish.ANSWER_IF_FOUND)]
        if after is None:
            return [(before, Wish.FORGET_AND_ANSWER)]
        return [(before, Wish.FORGET), (after, Wish.ANSWER)] if before != after else [(after, Wish.ANSWER)]

    def _ask_left(self, old: Row | None, new: Row | None, before: Any, after: Any) -> list[tuple[Any, Wish]]:
        """There is an answer to each change, even if nobody can be asked."""
        if old is None and new is None:
            return []
        forgotten = [(before, Wish.FORGET)] if before is not None and before != after else []
        return [*forgotten, (after, Wish.ANSWER)]

    def _tell(self, state: list[Any], answer: Answer, out: Out) -> None:
        current = state[0]
        asked = None if answer.row[-1][0] else answer.row
        if asked != current:
            return
        if current is None or (answer.found is None and not self._is_left):
            told = self._rows.gone(answer.row, ROWS, answer.time, as_deleted(answer.origin))
        else:
            told = self._rows.pair(current, answer.found, answer.time, as_kept(answer.origin))
        out.append((state[1], told) if self._with_old else told)
        state[1] = None if told[-1][0] else told if self._with_old else True


class Answering:
    """The state of a foreign key is the right table's row, and the left rows that ask for it by their keys."""

    def __init__(self, node: ForeignKeyJoin) -> None:
        rowtimes = JoinedRows(node.left, node.right, node.shape).rowtimes
        self.keys = (table_key(node.right), attrgetter("foreign_key"))
        self._left_time, self._right_time = rowtimes

    def take(self, key: Any, state: Any, side: int, row: Any, clock: Clock, out: Out) -> Any:
        """Adds answers."""
        state = [None, {}] if state is None else state
        if side == ROWS:
            state[0] = None if row[-1][0] else row
            for asking in _in_order(state[1]):
                out.append(Answer(asking, state[1][asking], state[0], row[self._right_time], row[-1]))
        else:
            self._answer(state, row, out)
        return None if state == [None, {}] else state

    def take_keyless(self, side: int, row: Any, clock: Clock, out: Out) -> None:
        """There is no row under NULL."""
        if side == OTHERS:
            out.append(Answer(row.key, row.row, None, row.row[self._left_time], row.row[-1]))

    def _answer(self, state: list[Any], question: Question, out: Out) -> None:
        found = state[0]
        if question.wish in (Wish.ANSWER, Wish.ANSWER_IF_FOUND):
            state[1][question.key] = question.row
        else:
            state[1].pop(question.key, None)
        if question.wish is Wish.FORGET or (question.wish is Wish.ANSWER_IF_FOUND and found is None):
            return
        time = question.row[self._left_time]
        if found is not None:
            time = max(time, found[self._right_time])
        answer = None if question.wish is Wish.FORGET_AND_ANSWER else found
        out.append(Answer(question.key, question.row, answer, time, question.row[-1]))


def _in_order(keys: dict[Any, Row]) -> list[Any]:
    """By key, as Kafka Streams finds them, if they can be compared."""
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)
