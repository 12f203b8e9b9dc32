"""How records travel in a stream."""

from __future__ import annotations

import pytest

from rest_proxy.streams.positions import id_around, parse_event_id


@pytest.mark.parametrize(
    ("positions", "partition", "expected"),
    [
        ({0: 5}, 0, (b"0:", b"")),
        ({0: 5, 1: 6, 2: 7}, 0, (b"0:", b",1:6,2:7")),
        ({0: 5, 1: 6, 2: 7}, 1, (b"0:5,1:", b",2:7")),
        ({2: 7, 0: 5}, 0, (b"2:7,0:", b"")),
    ],
)
def test_an_id_names_every_partition_around_the_one_that_moves(
    positions: dict[int, int], partition: int, expected: tuple[bytes, bytes]
) -> None:
    before, after = id_around(positions, partition)
    assert (before, after) == expected
    assert parse_event_id(f"{before.decode()}99{after.decode()}") == {**positions, partition: 99}
