from __future__ import annotations

import pytest

from benchmarks import durable
from benchmarks.turns import choose, turns


def test_who_goes_first_changes_with_each_turn() -> None:
    assert list(turns(["a", "b", "c"], 2)) == [(0, "a"), (0, "b"), (0, "c"), (1, "c"), (1, "b"), (1, "a")]


def test_rows_are_chosen_by_pattern_in_their_own_order() -> None:
    assert [row.name for row in choose(durable.ROWS, ["durable-64-6p", "durable-1-*"])] == [
        "durable-1-1p",
        "durable-1-6p",
        "durable-1-50p",
        "durable-64-6p",
    ]


def test_a_name_that_no_row_has_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"'life'.*durable-1-1p"):
        choose(durable.ROWS, ["life"])
