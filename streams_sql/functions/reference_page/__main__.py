"""`python -m streams_sql.functions.reference_page PAGE` writes what is declared of all functions into a Markdown page."""

from __future__ import annotations

import sys
from pathlib import Path

from streams_sql.functions.library import LIBRARY
from streams_sql.functions.reference_page.page import page


def main(words: list[str]) -> None:
    path = Path(words[0]) if words else Path("docs/sql-functions.md")
    path.write_text(page(LIBRARY), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
