from __future__ import annotations

import pytest

from streams_sql.functions import tables


def test_explode_gives_the_elements() -> None:
    assert tables.explode([1, None, 2]) == [1, None, 2]
    assert tables.explode([]) == tables.explode(None) == []


def test_cube_gives_all_combinations_once() -> None:
    assert tables.cube_explode([1, 2]) == [[None, None], [None, 2], [1, None], [1, 2]]
    assert tables.cube_explode([1, None]) == [[None, None], [1, None]]
    assert tables.cube_explode([]) == [[]]
    assert tables.cube_explode(None) == []


def test_cube_refuses_what_would_fill_the_memory() -> None:
    with pytest.raises(ValueError, match=r"too many columns \(21\); max is 20"):
        tables.cube_explode([1] * 21)
