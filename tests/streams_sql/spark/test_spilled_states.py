"""States that are in memory or in a file, against a dict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.spark.shards import spilled_states
from streams_sql.spark.shards.spilled_states import SpilledStates

KEYS = st.integers(0, 9).map(lambda number: (f"key {number}",))
CHANGES = st.lists(
    st.tuples(st.sampled_from(["put", "append", "delete", "limit"]), KEYS, st.integers(1, 8)), max_size=60
)


@pytest.fixture(autouse=True, scope="module")
def _few_keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spilled_states, "KEYS_MIN", 2)
        yield


@given(first=st.dictionaries(KEYS, st.lists(st.integers(), max_size=2)), changes=CHANGES)
def test_it_is_a_dict(first: dict[Any, list[int]], changes: list[tuple[str, Any, int]]) -> None:
    known = {key: list(state) for key, state in first.items()}
    states = SpilledStates(first, 3)
    for kind, key, number in changes:
        match kind:
            case "put":
                known[key], states[key] = [number], [number]
            case "append" if key in known:
                known[key].append(number)
                # Changed in its place, as processors do.
                states.get(key).append(number)
            case "delete":
                assert states.pop(key, None) == known.pop(key, None)
            case "limit":
                states.limit(number)
    assert dict(states.items()) == known
    assert {key: states.get(key) for key in known} == known
    states.close()


def test_what_is_used_stays_in_memory_and_the_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    states = SpilledStates({(number,): [number] for number in range(1_000)}, 10)
    for number in range(1_000):
        assert states.get((number,)) == [number]
        states.get((0,)).append(number)
        assert len(list(states.in_memory())) <= 10
    assert len(states.get((0,))) == 1_001
    assert not list(tmp_path.iterdir())
    states.close()
