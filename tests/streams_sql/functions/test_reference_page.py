"""Every function is on the page about them."""

from __future__ import annotations

from streams_sql.functions.library import LIBRARY
from streams_sql.functions.reference_page import page


def test_every_function_is_on_the_page_and_has_words_for_people() -> None:
    text = page(LIBRARY)
    for name in LIBRARY.names():
        assert f"### {name}\n" in text
        function = LIBRARY.find(name)
        assert function is not None
        assert function.description
        assert all(overload.description for overload in function.overloads)
