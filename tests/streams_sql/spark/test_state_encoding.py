"""States come back as they were, and bytes that are not state are rejected without running anything."""

from __future__ import annotations

import contextlib
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams_sql.spark.shards.state_encoding import VERSION, StateNotPlain, StateNotReadable, _Kind, decoded, encoded

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    ANY_TEXT,
    st.binary(),
    st.decimals(allow_nan=False),
    st.binary().map(bytearray),
)
KEYS = st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), ANY_TEXT), lambda keys: st.tuples(keys, keys))
VALUES = st.recursive(
    PLAIN,
    lambda values: st.one_of(
        st.lists(values, max_size=4),
        st.lists(values, max_size=4).map(tuple),
        st.lists(st.tuples(values, values), max_size=4),
        st.dictionaries(KEYS, values, max_size=4),
        st.sets(KEYS, max_size=4),
        st.frozensets(KEYS, max_size=4),
    ),
    max_leaves=30,
)


@given(VALUES)
def test_values_come_back_with_their_types(value: Any) -> None:
    assert typed(decoded(encoded(value))) == typed(value)


def typed(value: Any) -> Any:
    """A value with the type of each of its parts: 1, 1.0 and True are equal."""
    match value:
        case list() | tuple():
            return type(value), [typed(each) for each in value]
        case dict():
            return dict, [(typed(key), typed(each)) for key, each in value.items()]
        case set() | frozenset():
            return type(value), sorted(map(repr, map(typed, value)))
        case float() | Decimal():
            return type(value), repr(value)
    return type(value), value


@pytest.mark.parametrize("value", [float("nan"), Decimal("NaN"), Decimal("1.10"), -0.0, 2**64, -(2**63) - 1])
def test_numbers_keep_all_their_digits(value: Any) -> None:
    assert repr(decoded(encoded(value))) == repr(value)


@pytest.mark.parametrize("count", [1, 64, 65, 3_000])
def test_rows_of_any_width_come_back(count: int) -> None:
    rows = [tuple(range(count)), tuple(map(str, range(count)))]
    assert decoded(encoded(rows)) == rows


@dataclass
class Total:
    value: int


def test_a_state_that_is_not_plain_is_rejected_with_its_type() -> None:
    with pytest.raises(
        StateNotPlain, match=r"state of type .*test_state_encoding\.Total: .*tuples, lists, sets and dicts"
    ):
        encoded({"a": [1, Total(2)]})


class Attack:
    ran = False

    def __reduce__(self) -> Any:
        return setattr, (Attack, "ran", True)


def test_code_in_a_checkpoint_does_not_run() -> None:
    payload = pickle.dumps(Attack())
    pickle.loads(payload)
    assert Attack.ran, "the payload must be one that acts"
    Attack.ran = False
    for content in (payload, bytes((VERSION,)) + payload):
        with pytest.raises(StateNotReadable):
            decoded(content)
    assert not Attack.ran


def test_another_version_is_rejected() -> None:
    content = encoded([1])
    with pytest.raises(StateNotReadable, match="has version 9, and this program reads version 1"):
        decoded(b"\x09" + content[1:])


@pytest.mark.parametrize(
    "column",
    [
        # Fewer values than numbers: the end of a column would end the columns of the tuple around it.
        [_Kind.TUPLE, [[_Kind.PLAIN, [1]], [_Kind.MIXED, b"\0", [[_Kind.PLAIN, []]]], [_Kind.PLAIN, [2]]]],
        [_Kind.MIXED, b"\0", [[_Kind.PLAIN, [1, 2]]]],
        [_Kind.MIXED, b"\1", [[_Kind.PLAIN, [1]]]],
        [_Kind.BYTEARRAY, [2**40]],
        [_Kind.BYTEARRAY, [[1, 2]]],
        [_Kind.TEXT, ["a"]],
        [_Kind.PLAIN, "a"],
        [_Kind.PLAIN, {"a": 1}],
        [_Kind.PLAIN, [[1]]],
        [_Kind.PLAIN, [msgspec.msgpack.Ext(5, b"x")]],
        [_Kind.PLAIN, [datetime.now(UTC)]],
        [_Kind.TUPLES, [2**60], [_Kind.PLAIN, []]],
        [_Kind.TUPLES, [2**60, -(2**60)], [_Kind.PLAIN, []]],
        [_Kind.SETS, [1], [_Kind.LIST, [[_Kind.PLAIN, [1]]]]],
        [],
        None,
    ],
)
def test_columns_that_nothing_encodes_are_damage(column: object) -> None:
    with pytest.raises(StateNotReadable, match="is damaged"):
        decoded(bytes((VERSION,)) + msgspec.msgpack.encode(column))


@given(VALUES, st.data())
def test_damage_is_an_error_or_another_value(value: Any, data: st.DataObject) -> None:
    content = bytearray(encoded(value))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(StateNotReadable):
        decoded(bytes(content[: data.draw(st.integers(0, len(content)))]))
