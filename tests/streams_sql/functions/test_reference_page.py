"""The page about functions says what is declared."""

from __future__ import annotations

from pathlib import Path

from streams_sql.functions.library import LIBRARY
from streams_sql.functions.reference_page.__main__ import main
from streams_sql.functions.reference_page.page import page

PAGE = Path(__file__).parents[3] / "docs" / "sql-functions.md"


def test_the_page_is_made_from_the_declarations(tmp_path: Path) -> None:
    made = tmp_path / "page.md"
    main([str(made)])
    assert PAGE.read_text(encoding="utf-8") == made.read_text(encoding="utf-8"), (
        "make it again: python -m streams_sql.functions.reference_page docs/sql-functions.md"
    )


def test_every_function_is_on_the_page_and_has_words_for_people() -> None:
    text = page(LIBRARY)
    for name in LIBRARY.names():
        assert f"### {name}\n" in text
        function = LIBRARY.find(name)
        assert function is not None
        assert function.description
        assert all(overload.description for overload in function.overloads)
