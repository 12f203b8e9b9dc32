"""Keys with the bounds of a window, byte for byte as Kafka Streams writes them."""

from __future__ import annotations

import pytest

from streams_sql.formats.serde import Undecodable
from streams_sql.formats.windowed_keys import Bounds, WindowedKey, join_windowed, split_windowed
from streams_sql.language.statements import WindowKind
from streams_sql.sources import KeyWindow

START = b"\x00\x00\x01\x8b\xcf\xe5\x68\x00"
END = b"\x00\x00\x01\x8b\xcf\xe5\x6b\xe8"
START_MS, END_MS = 1_700_000_000_000, 1_700_000_001_000
TUMBLING = KeyWindow(WindowKind.TUMBLING, 1_000)
SESSION = KeyWindow(WindowKind.SESSION, None)


@pytest.mark.parametrize(("window", "payload"), [(TUMBLING, b"k" + START), (SESSION, b"k" + END + START)])
def test_bounds_stand_behind_the_key(window: KeyWindow, payload: bytes) -> None:
    bounds = Bounds(START_MS, END_MS)
    assert join_windowed(window, [b"k", None], [bounds, bounds]) == [payload, None]
    assert split_windowed(window, [payload, None]) == [WindowedKey(b"k", bounds), None]


def test_a_key_may_be_empty_but_not_its_window() -> None:
    empty, short = split_windowed(SESSION, [END + START, START])
    assert empty == WindowedKey(b"", Bounds(START_MS, END_MS))
    assert short == Undecodable("The key has 8 bytes: the bounds of its window alone take 16")


def test_windows_end_where_time_ends() -> None:
    (found,) = split_windowed(TUMBLING, [b"\x7f" + b"\xff" * 7])
    assert found == WindowedKey(b"", Bounds(2**63 - 1, 2**63 - 1))
